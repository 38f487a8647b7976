//===- Bf16Accesses.h - numbers of bf16 that are accessed side by side --------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_BF16ACCESSES_H
#define PAR_LIB_TARGET_CUDA_BF16ACCESSES_H

#include "llvm/IR/Module.h"

namespace mlir::par {

/// Takes two numbers of a wide access as the 32 bits that they are: one operation makes an f32 of a loaded
/// one, and one rounds two that are stored. As 16 bits each they are cut out and put together first.
void pairBf16Accesses(llvm::Module &module);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_BF16ACCESSES_H
