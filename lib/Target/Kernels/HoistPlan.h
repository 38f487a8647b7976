//===- HoistPlan.h - what a loop nest can compute outside its innermost loop ------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_KERNELS_HOISTPLAN_H
#define PAR_LIB_TARGET_KERNELS_HOISTPLAN_H

#include "par/Conversion/Scalars.h"
#include <set>

namespace mlir::par {

/// Where an index comes from: the number of a loop of the nest, or kInner for the loop of a reduction.
constexpr int64_t kInner = 1 << 20;
using Symbols = SmallVector<int64_t>;

/// Values that can be computed outside the innermost loops, by the number of loops they need.
class HoistPlan {
public:
  explicit HoistPlan(unsigned loops) : byDepth(loops + 1) {}

  /// Adds `value` and what it is computed from, an index of which stands for every dimension.
  void collect(Value value, Symbols symbols);

  ArrayRef<std::pair<Value, Symbols>> get(unsigned depth) const { return byDepth[depth]; }

private:
  void collectOperands(Operation *op, const Symbols &symbols);

  std::set<std::pair<void *, Symbols>> visited;
  SmallVector<SmallVector<std::pair<Value, Symbols>>> byDepth;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_KERNELS_HOISTPLAN_H
