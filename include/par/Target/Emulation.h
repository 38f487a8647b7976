//===- Emulation.h - kernels of a device on the host ------------------------------------*- C++ -*-===//
#ifndef PAR_TARGET_EMULATION_H
#define PAR_TARGET_EMULATION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace mlir::par {

/// These instructions the threads of emulated kernels have executed. Addresses at constant distances, changes
/// of sign, parts of vectors and what else no instruction of a GPU is made of do not count; quotients count
/// as what they become.
struct EmulatedCounts {
  uint64_t instructions; ///< all, a product of matrices as one
  uint64_t matrices;     ///< of those: products of matrices, once for each lane
  uint64_t functions;    ///< powers, reciprocals, tangents, roots
  uint64_t accesses;     ///< of memory
};
/// The symbol of theirs, in a library that counts.
inline constexpr llvm::StringLiteral kEmulatedCounts = "par_emulated_counts";

/// Writes the shared library `path` of par/emulation.h from a package's `program<i>.bc`: the very module that
/// the device's back end got. Error at what the emulator does not know. Needs ld.lld-19.
llvm::Error writeEmulatedLibrary(llvm::MemoryBufferRef bitcode, llvm::StringRef path, bool counts = false);

/// The PTX of that module.
llvm::Expected<std::string> printDeviceCode(llvm::MemoryBufferRef bitcode);

} // namespace mlir::par

#endif // PAR_TARGET_EMULATION_H
