//===- Emulation.h - kernels of a device on the host ------------------------------------*- C++ -*-===//
#ifndef PAR_TARGET_EMULATION_H
#define PAR_TARGET_EMULATION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace mlir::par {

/// Writes the shared library `path` of par/emulation.h from a package's `program<i>.bc`: the very module that
/// the device's back end got. Error at what the emulator does not know. Needs ld.lld-19.
llvm::Error writeEmulatedLibrary(llvm::MemoryBufferRef bitcode, llvm::StringRef path);

/// The PTX of that module.
llvm::Expected<std::string> printDeviceCode(llvm::MemoryBufferRef bitcode);

} // namespace mlir::par

#endif // PAR_TARGET_EMULATION_H
