//===- Linker.h - from object code to a shared library ----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CPU_LINKER_H
#define PAR_LIB_TARGET_CPU_LINKER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Runs lld. It says nothing of its own: its first complaint is the error.
llvm::Error linkSharedLibrary(llvm::StringRef object, llvm::StringRef library);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CPU_LINKER_H
