//===- LibraryCall.h - what a library may compute instead of kernels --------------------------*- C++ -*-===//
#ifndef PAR_TARGET_LIBRARYCALL_H
#define PAR_TARGET_LIBRARYCALL_H

#include "llvm/ADT/StringRef.h"

namespace mlir::par::launch {

/// In the launch (kLaunchAttr) of an attention's first function: what a library is told that may compute it
/// instead, as the manifest's list `attentions` has it. Its buffers are those of the rank.attention.
inline constexpr llvm::StringLiteral kLibrary = "library";

} // namespace mlir::par::launch

#endif // PAR_TARGET_LIBRARYCALL_H
