//===- par-opt.cpp - MLIR's opt driver with par's passes and pipelines ----------------------------------===//
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "par/Register/Register.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::par::registerDialects(registry);
  mlir::par::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "par: graph compiler for partitioned training\n", registry));
}
