//===- LowerKernels.h - kernel functions from loops to LLVM -----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_CONVERSION_LOWERKERNELS_H
#define PAR_LIB_CONVERSION_LOWERKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Lowers a module of kernel functions (func, scf, memref, arith, math) to the LLVM dialect with plain
/// pointers for memrefs. exp, tanh, log, erf, sin and cos become polynomials (so that loops vectorise), pow a
/// call of the C library.
LogicalResult lowerKernels(ModuleOp kernels);

} // namespace mlir::par

#endif // PAR_LIB_CONVERSION_LOWERKERNELS_H
