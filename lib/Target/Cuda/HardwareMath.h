//===- HardwareMath.h - what a GPU computes in an instruction or a few --------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_HARDWAREMATH_H
#define PAR_LIB_TARGET_CUDA_HARDWAREMATH_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Rounding to bf16, exponentials, hyperbolic tangents and sigmoids of f32, by the hardware's conversions,
/// powers of two and reciprocals. What processors compute by polynomials takes a GPU longer than the bytes of
/// a kernel.
///
/// Rounding is exact. The others are used where a kernel has bf16, which hides what they are off by: exp
/// 2^-21 + |x| 2^-23, sigmoid 2^-20 + |x| 2^-23, tanh 2^-20, relatively; results below 2^-126 are zero. By
/// the errors that the PTX ISA gives for ex2.approx.ftz.f32 and rcp.approx.ftz.f32, of 2^-22 and 2^-23.
/// Kernels in f32 keep their polynomials.
///
/// A product that is added to something, and nothing else, becomes one fma, in f32 too.
LogicalResult useHardwareMath(ModuleOp kernels);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_HARDWAREMATH_H
