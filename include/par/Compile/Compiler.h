//===- Compiler.h - from a model to a package -------------------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_COMPILER_H
#define PAR_COMPILE_COMPILER_H

#include "CommandLine.h"

namespace mlir::par {

/// Runs all phases; 0, or 1 after one error line on stderr. `launcher` is the executable that becomes the
/// package's `rank`.
int compile(CompileOptions options, llvm::StringRef launcher);

} // namespace mlir::par

#endif // PAR_COMPILE_COMPILER_H
