//===- HostKernels.h - kernels of a GPU as functions for a processor --------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_HOSTKERNELS_H
#define PAR_LIB_TARGET_CUDA_HOSTKERNELS_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Rewrites the module that the NVPTX back end gets into one that calls the emulator (par/emulation.h):
///
/// - Every call of llvm.nvvm.* becomes one of par_emulate_* (EmulatedIntrinsics.def).
/// - Every load, store and atomic but those of a thread's own variables and of constant tables asks
///   par_emulate_access where its bytes are.
/// - Shared variables become offsets in the window of shared memory.
/// - Every kernel gets a function par_emulated_<name>.
///
/// Error at what the emulator does not know; the module is of no use then.
llvm::Error rewriteForHost(llvm::Module &module, const llvm::DataLayout &layout, llvm::StringRef triple);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_HOSTKERNELS_H
