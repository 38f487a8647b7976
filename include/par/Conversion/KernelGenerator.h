//===- KernelGenerator.h - kernels as loops over scalars --------------------------------------*- C++ -*-===//
#ifndef PAR_CONVERSION_KERNELGENERATOR_H
#define PAR_CONVERSION_KERNELGENERATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// Writes `func.func @name(%context: !llvm.ptr, %part: index, %parts: index, ins…, outs…)` on memrefs of
/// static shape, contiguous and row-major, that computes what the region of a rank.kernel (or of a rank.gemm
/// that is no matrix product) means. Every output is one loop nest; elements of values in between are
/// computed where they are needed (indices flow backwards through broadcasts, transposes, slices, …);
/// reductions over trailing dimensions are computed once per row, outside the loop over the row; reductions
/// over leading dimensions accumulate into the output row by row, so that innermost loops have unit stride.
/// Calls with parts 0 … parts − 1, in any order or at once, compute everything. Iterations of innermost loops
/// do not depend on each other through memory. `axes` are the mesh axes in the order of par_context.coords.
/// Error at the op that cannot be generated.
FailureOr<func::FuncOp> generateKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                       ArrayRef<StringAttr> axes);

} // namespace mlir::par

#endif // PAR_CONVERSION_KERNELGENERATOR_H
