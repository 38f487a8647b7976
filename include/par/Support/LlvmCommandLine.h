//===- LlvmCommandLine.h - tools whose flags are LLVM's --------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_LLVMCOMMANDLINE_H
#define PAR_SUPPORT_LLVMCOMMANDLINE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::par {

/// `--version` of the tool `name` prints par's version, and LLVM's below it.
void printVersionOf(llvm::StringRef name);

/// Reads what is registered with llvm::cl. False after one `error:` line.
bool parseLlvmCommandLine(int argc, char **argv, llvm::StringRef overview);

} // namespace mlir::par

#endif // PAR_SUPPORT_LLVMCOMMANDLINE_H
