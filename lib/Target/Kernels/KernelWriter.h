//===- KernelWriter.h - kernels as loops over scalars, in parts -------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_KERNELS_KERNELWRITER_H
#define PAR_LIB_TARGET_KERNELS_KERNELWRITER_H

#include "Sharing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

struct PartKernel {
  func::FuncOp function;
  int64_t mostParts;            ///< of more parts some have nothing to do
  SmallVector<int64_t> updates; ///< numbers of outputs that are read, too
};

/// `func.func @name(%context: !llvm.ptr, %part: index, %parts: index, ins…, outs…)` on memrefs of static
/// shape, contiguous and row-major. Every output is one loop nest; elements of values in between are computed
/// where they are needed (indices flow backwards through broadcasts, transposes, slices, …); reductions over
/// trailing dimensions are computed once per row, outside the loop over the row; reductions over leading
/// dimensions accumulate into the output row by row, so that innermost loops have unit stride. Calls with
/// parts 0 … parts − 1, in any order or at once, compute everything. Iterations of innermost loops do not
/// depend on each other through memory.
FailureOr<PartKernel> writePartKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                      ArrayRef<StringAttr> axes, const Sharing &sharing);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_KERNELS_KERNELWRITER_H
