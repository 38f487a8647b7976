//===- Bf16Pair.h - two numbers of bf16 in a register -------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_BF16PAIR_H
#define PAR_LIB_TARGET_CUDA_BF16PAIR_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::par {

/// The assembly of packBf16: $1 is the upper half.
inline constexpr llvm::StringLiteral kPackBf16 = "cvt.rn.bf16x2.f32 $0, $1, $2;";

/// Rounded to nearest even, as an i32; `low` is in the lower half. As assembly, since LLVM would make
/// shuffles of vectors of bf16 of what becomes of an intrinsic's, which processors have no instructions for.
inline Value packBf16(OpBuilder &builder, Location loc, Value low, Value high) {
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  return builder
      .create<LLVM::InlineAsmOp>(loc, builder.getI32Type(), ValueRange{high, low}, kPackBf16, "=r,f,f",
                                 /*has_side_effects=*/false,
                                 /*is_align_stack=*/false, dialect, /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_BF16PAIR_H
