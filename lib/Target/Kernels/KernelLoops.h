//===- KernelLoops.h - loops of a kernel: a thread's share, what is computed outside, sums --*- C++ -*-===//
#ifndef PAR_LIB_TARGET_KERNELS_KERNELLOOPS_H
#define PAR_LIB_TARGET_KERNELS_KERNELLOOPS_H

#include "HoistPlan.h"
#include "Sharing.h"
#include "par/Conversion/ScalarEvaluator.h"

namespace mlir::par {

/// `part` of `parts` threads writes a kernel's loops.
class KernelLoops : public TermWalk {
public:
  KernelLoops(ScalarEvaluator &evaluator, Value part, Value parts, const Sharing &sharing)
      : sharing(sharing), evaluator(evaluator), part(part), parts(parts) {}

  const Sharing sharing;
  /// Of more parts than this some have no share in anything.
  int64_t getMostParts() const { return mostParts; }
  /// Begin and end of this thread's share of 0 … size − 1.
  std::pair<Value, Value> share(int64_t size);
  /// A loop over that share.
  LogicalResult shareLoop(int64_t size, function_ref<LogicalResult(Value)> body);
  /// Computes what needs exactly `indices` of the nest's loops. Values of the innermost loop are left to it.
  LogicalResult hoist(size_t loops, const HoistPlan &plan, ArrayRef<Value> indices);
  /// A loop 0 … size − 1 with `body(induction variable)`; no loop for size 1.
  LogicalResult loop(int64_t size, function_ref<LogicalResult(Value)> body);
  /// The same, always as a loop.
  LogicalResult loop(Value begin, Value end, function_ref<LogicalResult(Value)> body, int64_t step = 1);
  LogicalResult loop(Value begin, Value end, function_ref<LogicalResult(Value)> body, Value step);
  /// Long sums of f32 are made of blocks, whose sums are added up in f64: what is lost does not grow with the
  /// number of terms.
  FailureOr<Value> reduce(ArrayRef<int64_t> sizes, Type type, ReduceKind kind,
                          function_ref<FailureOr<Value>(ArrayRef<Value>)> term) override;

private:
  /// Most terms of a sum that is one chain of f32.
  static constexpr int64_t kShort = 1024;
  /// Most terms of a block, which is along the last dimension: vectors add it in many chains. With fewer
  /// terms, ending those for every block costs a tenth of what the terms do.
  static constexpr int64_t kBlock = 4096;
  /// A loop that carries a value from `start` on.
  Value fold(Value begin, Value end, int64_t step, Value start,
             function_ref<Value(Value variable, Value carried)> body);
  /// Adds blocks of `size` terms to `start`.
  Value addBlocks(int64_t size, Type type, Value start,
                  function_ref<Value(Value variable, Value carried)> term);

  ScalarEvaluator &evaluator;
  Value part, parts; ///< which share of the kernel to compute, of how many
  int64_t mostParts = 1;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_KERNELS_KERNELLOOPS_H
