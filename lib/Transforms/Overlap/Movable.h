//===- Movable.h - which ops of a function may be made late -----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_OVERLAP_MOVABLE_H
#define PAR_LIB_TRANSFORMS_OVERLAP_MOVABLE_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Worth communicating beside: a layer, a product, attention, or a loop of its own over rows.
bool isCompute(Operation *op);

/// The ops of a partitioned function's block by how par-overlap-collectives treats them. Every started
/// collective has its wait already.
class Movable {
public:
  explicit Movable(Block &block);

  /// Made when somebody needs it: waits, and cheap ops between collectives and what uses them.
  bool isLate(Operation *op) const { return late.contains(op); }
  /// A gather of arguments, which may begin at any time.
  bool isAhead(Operation *op) const { return ahead.contains(op); }
  /// A reduction of which nothing is made before the function returns, but by late ops.
  bool isDeferrable(Operation *op) const { return deferrable.contains(op); }
  /// The place in the original order of the first op that needs `op` and is not late.
  int64_t getFirstUse(Operation *op) const;
  int64_t getPlace(Operation *op) const { return places.lookup(op); }

private:
  void findAhead(Block &block);
  void findLate(Block &block);
  void findDeferrable(Block &block);
  bool dependsOnArguments(Value value) const;
  bool isOnlyReturned(Operation *op) const;

  llvm::DenseMap<Operation *, int64_t> places;
  llvm::DenseSet<Operation *> late, ahead, deferrable;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_OVERLAP_MOVABLE_H
