//===- KernelLoops.h - loops of a kernel: a thread's share, what is computed outside ----------*- C++ -*-===//
#ifndef PAR_LIB_CONVERSION_KERNELLOOPS_H
#define PAR_LIB_CONVERSION_KERNELLOOPS_H

#include "HoistPlan.h"
#include "ScalarEvaluator.h"

namespace mlir::par {

/// `part` of `parts` threads writes a kernel's loops.
class KernelLoops {
public:
  KernelLoops(ScalarEvaluator &evaluator, Value part, Value parts)
      : evaluator(evaluator), part(part), parts(parts) {}

  /// Begin and end of this thread's share of 0 … size − 1.
  std::pair<Value, Value> share(int64_t size);
  /// A loop over that share.
  LogicalResult shareLoop(int64_t size, function_ref<LogicalResult(Value)> body);
  /// Computes what needs exactly `indices` of the nest's loops. Values of the innermost loop are left to it.
  LogicalResult hoist(size_t loops, const HoistPlan &plan, ArrayRef<Value> indices);

private:
  ScalarEvaluator &evaluator;
  Value part, parts; ///< which share of the kernel to compute, of how many
};

} // namespace mlir::par

#endif // PAR_LIB_CONVERSION_KERNELLOOPS_H
