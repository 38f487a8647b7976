//===- LowerKernels.h - kernel functions from loops to LLVM -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_KERNELS_LOWERKERNELS_H
#define PAR_LIB_TARGET_KERNELS_LOWERKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// With plain pointers for memrefs. exp, tanh, log, erf, sin and cos of f32 become polynomials, which
/// vectorise and need no library; other functions become calls of the C library.
LogicalResult lowerLoopsToLLVM(ModuleOp kernels);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_KERNELS_LOWERKERNELS_H
