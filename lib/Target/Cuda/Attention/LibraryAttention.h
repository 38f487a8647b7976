//===- LibraryAttention.h - attention that cuDNN may compute instead ----------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_LIBRARYATTENTION_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_LIBRARYATTENTION_H

#include "AttentionCall.h"
#include "par/CudnnWorkspace.h"
#include "par/Plan/Plan.h"

namespace mlir::par {

/// Why cuDNN does not compute an attention as par does, for people; empty: it does. Whether there is a cuDNN,
/// and one that takes it, is known when a program starts.
std::string findLibraryProblem(const AttentionCall &call);

/// What its workspace depends on.
par_cudnn_attention describeForLibrary(const AttentionCall &call, ChipKind chip);

/// The chip that a program is compiled for.
ChipKind getChip(rank::AttentionOp work);

/// Bytes of the buffer behind the op's other scratch; 0: it has none.
int64_t getLibraryBytes(rank::AttentionOp work);

/// What the runtime is told of it (launch::kLibrary), as an entry of the manifest's list `attentions`.
DictionaryAttr describeLibraryCall(Builder &builder, StringRef name, const AttentionCall &call,
                                   rank::AttentionOp work);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_LIBRARYATTENTION_H
