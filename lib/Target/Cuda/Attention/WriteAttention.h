//===- WriteAttention.h - kernels of an attention -----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_WRITEATTENTION_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_WRITEATTENTION_H

#include "AttentionKernel.h"

namespace mlir::par {

/// The kernel `name` at the builder's place; a backward pass has another one behind it. Error at an op that
/// is none for a GPU. `isAligned`: buffers begin at multiples of kAccessBytes.
FailureOr<func::FuncOp> writeAttention(OpBuilder &builder, rank::AttentionOp work, StringRef name,
                                       bool isAligned);

void writeForwardKernel(const AttentionTask &task);
void writeQueryGradientKernel(const AttentionTask &task);
void writeKeyGradientKernel(const AttentionTask &task);

/// Of the launch behind that of a backward pass's queries.
inline std::string getKeyGradientName(StringRef kernel) { return (kernel + "_keys").str(); }

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_WRITEATTENTION_H
