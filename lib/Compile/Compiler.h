//===- Compiler.h - from a model to a package -------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_COMPILER_H
#define PAR_LIB_COMPILE_COMPILER_H

#include "CommandLine.h"

namespace mlir::par {

/// Runs all phases; 0, or 1 after one error line on stderr.
int compile(const CompileOptions &options, llvm::StringRef launcher);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_COMPILER_H
