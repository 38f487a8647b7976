//===- par-compile.cpp - compiles a model to native rank programs ---------------------------------------===//
#include "Compiler.h"
#include "par/Support/OutOfMemory.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

int main(int argc, char **argv) {
  mlir::par::endWithoutMemory("use a smaller model, or compile where there is more");
  mlir::par::CompileOptions options;
  mlir::par::Flags flags = mlir::par::describeFlags(options);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  options.given = flags.getGiven();
  if (llvm::Error error = mlir::par::checkOptions(options)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  // The launcher lies beside this executable.
  static int anchor;
  llvm::SmallString<128> launcher(
      llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(argv[0], &anchor)));
  llvm::sys::path::append(launcher, "par-run");
  return mlir::par::compile(options, launcher);
}
