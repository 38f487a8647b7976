//===- Attention.h - attention by the runtime in runtime/cpu ------------------------------------*- C++
//-*-===//
#ifndef PAR_LIB_TARGET_CPU_ATTENTION_H
#define PAR_LIB_TARGET_CPU_ATTENTION_H

#include "par/Target/LibraryCall.h"

namespace mlir::par {

/// par.attention and par.attention_backward.
std::unique_ptr<LibraryCall> createCpuAttention();

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CPU_ATTENTION_H
