//===- KernelPasses.h - how often a layer's kernels go over its tensors -----------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_KERNELPASSES_H
#define PAR_BENCHMARKS_PLANNER_KERNELPASSES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Passes of a layer's kernels that memory bounds: each reads or writes a tensor as large as a micro-batch's
/// rows of the hidden size once. Products and fused attention are not among them.
struct KernelPasses {
  double whole = 0; ///< of what every tensor-parallel rank has whole, without sequence parallelism
  double split = 0; ///< of what tensor parallelism splits

  /// The passes that one rank makes.
  double count(int64_t tensorRanks, bool splitsSequence) const;
};

/// Bytes that kernels of the training program `module` read and write, by layer and micro-batch, forward and
/// back; what is run again counts. Layers are functions with attention and its gradient; nothing where there
/// are none. `transposes`: whether kernels count that only change the places of elements.
double countKernelBytes(ModuleOp module, bool transposes);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_KERNELPASSES_H
