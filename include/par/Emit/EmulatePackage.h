//===- EmulatePackage.h - kernels of a package on the host ------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_EMULATEPACKAGE_H
#define PAR_EMIT_EMULATEPACKAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Adds program<i>.emulated.so to the package at `path` for each of its programs, and writes its manifest
/// anew. Error if it has no programs for a device, or files that its manifest does not know so, or kernels
/// that cannot be emulated; the package is as it was then.
llvm::Error emulatePackage(llvm::StringRef path);

} // namespace mlir::par

#endif // PAR_EMIT_EMULATEPACKAGE_H
