//===- par-reduce.cpp - MLIR's test-case reducer with par's dialects and passes
//-----------------------------===//
#include "SimplifyOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "par/Register/Register.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::par::registerDialects(registry);
  mlir::par::registerSimplifyOps();
  // Those that opt-reduction-pass may run.
  mlir::par::registerPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
