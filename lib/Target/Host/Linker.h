//===- Linker.h - from object code to a shared library ----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_HOST_LINKER_H
#define PAR_LIB_TARGET_HOST_LINKER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Runs lld. It says nothing of its own: its first complaint is the error. What comes from `archives` is not
/// exported.
llvm::Error linkSharedLibrary(llvm::StringRef object, llvm::StringRef library,
                              llvm::ArrayRef<llvm::StringRef> archives = {});

} // namespace mlir::par

#endif // PAR_LIB_TARGET_HOST_LINKER_H
