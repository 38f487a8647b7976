//===- Bf16Pair.h - two numbers of bf16 in a register -------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_BF16PAIR_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_BF16PAIR_H

#include "BlockCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::par {

/// Rounded to nearest even; `low` is in the lower half.
inline Value packBf16(BlockCode &code, Value low, Value high) {
  Value pair = code.builder
                   .create<LLVM::CallIntrinsicOp>(code.loc, VectorType::get({2}, code.builder.getBF16Type()),
                                                  code.builder.getStringAttr("llvm.nvvm.ff2bf16x2.rn"),
                                                  ValueRange{high, low})
                   .getResult(0);
  return code.create<LLVM::BitcastOp>(code.i32, pair);
}

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_BF16PAIR_H
