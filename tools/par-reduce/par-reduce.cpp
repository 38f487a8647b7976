//===- par-reduce.cpp - MLIR's test-case reducer with par's dialects and passes ---------------------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "par/Reduce/SimplifyOps.h"
#include "par/Register/Register.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/GraphFile.h"
#include "par/Support/LlvmCommandLine.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

/// MLIR's reducer reads its input itself: what is given as a file is looked at first.
static bool checkFiles(MLIRContext &context, llvm::ArrayRef<const char *> arguments) {
  ScopedDiagnosticHandler handler(&context, par::printDiagnostic);
  return llvm::all_of(arguments, [&](StringRef argument) {
    return !llvm::sys::fs::is_regular_file(argument) || par::readGraphFile(context, argument);
  });
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  par::registerDialects(registry);
  par::registerSimplifyOps();
  // Those that opt-reduction-pass may run.
  par::registerPasses();
  par::printVersionOf("par-reduce");
  MLIRContext context(registry);
  return !checkFiles(context, {argv + 1, argv + argc}) || failed(mlirReduceMain(argc, argv, context));
}
