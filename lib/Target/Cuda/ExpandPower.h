//===- ExpandPower.h - powf without a library -------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_EXPANDPOWER_H
#define PAR_LIB_TARGET_CUDA_EXPANDPOWER_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// math.powf of f32 as arithmetic of f64: 2^(y · log2 x), rounded once at the end, with the special cases of
/// C's powf.
LogicalResult expandPower(ModuleOp kernels);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_EXPANDPOWER_H
