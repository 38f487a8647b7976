//===- AttentionLibraryCall.h - attention as an op that a library computes ----------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONLIBRARYCALL_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONLIBRARYCALL_H

#include "par/Target/LibraryCall.h"

namespace mlir::par {

/// par.attention and par.attention_backward: kernels, and cuDNN where it can.
std::unique_ptr<LibraryCall> createCudaAttention();

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONLIBRARYCALL_H
