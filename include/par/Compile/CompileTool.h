//===- CompileTool.h - par-compile as a function ----------------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_COMPILETOOL_H
#define PAR_COMPILE_COMPILETOOL_H

#include "llvm/ADT/StringRef.h"

namespace mlir::par {

/// What `par-compile` does with its command line; its exit status. `launcher` is the executable that becomes
/// the package's `rank`.
int runCompileTool(int argc, char **argv, llvm::StringRef launcher);

} // namespace mlir::par

#endif // PAR_COMPILE_COMPILETOOL_H
