//===- par-compile.cpp - compiles a model to native rank programs ---------------------------------------===//
#include "par/Compile/CompileTool.h"
#include "par/Planner/PlanTool.h"
#include "par/Support/OutOfMemory.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

int main(int argc, char **argv) {
  mlir::par::endWithoutMemory("use a smaller model, or compile where there is more");
  // The launcher lies beside this executable.
  static int anchor;
  llvm::SmallString<128> launcher(
      llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(argv[0], &anchor)));
  llvm::sys::path::append(launcher, "par-run");
  return mlir::par::runCompileTool(argc, argv, launcher, mlir::par::findPlan);
}
