//===- EmulatorArchive.h - the emulator that emulated kernels are linked with -----------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_EMULATORARCHIVE_H
#define PAR_LIB_TARGET_CUDA_EMULATORARCHIVE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::par {

/// The bytes of the library ParEmulation of runtime/emulation: tools bring it along.
llvm::StringRef getEmulatorArchive();

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_EMULATORARCHIVE_H
