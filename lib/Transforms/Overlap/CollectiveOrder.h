//===- CollectiveOrder.h - the order of a function in which collectives overlap ---------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_OVERLAP_COLLECTIVEORDER_H
#define PAR_LIB_TRANSFORMS_OVERLAP_COLLECTIVEORDER_H

#include "Movable.h"

namespace mlir::par {

struct OverlapLimits {
  int64_t prefetch; ///< bytes gathered ahead, and kept for reductions
  int64_t bucket;   ///< bytes of reductions that begin together
};

/// Marks a collective as started and gives its users the results of a wait, which stands behind it.
void startCollective(Operation *collective);

/// Lists the ops of a block anew: collectives begin early, late ops stand before what needs them, all else
/// keeps its order. Reductions of a bucket become one op. Every collective was started before.
class CollectiveOrder {
public:
  /// `isKept`: the memory of a value is not the function's to free.
  CollectiveOrder(Block &block, OverlapLimits limits, llvm::function_ref<bool(Value)> isKept);
  void run();

private:
  struct Bucket {
    SmallVector<Operation *> members;
    int64_t bytes = 0, held = 0; ///< to be moved, and kept alive meanwhile
  };
  /// A deferrable reduction that has begun.
  struct Running {
    Operation *collective;
    int64_t held;
  };

  void place(Operation *op);
  void emit(Operation *op);
  void need(Operation *op);
  void needOperands(Operation *op);
  void beginOperands(Operation *op);
  bool isReady(Operation *collective) const;

  void begin(Operation *collective);
  void beginUsed(int64_t place);
  void beginAhead(int64_t place);
  void beginReady();
  void finish();

  void addToBucket(Operation *reduction);
  void beginAlike(Operation *reduction);
  void beginBucket(size_t number);
  void beginBuckets(bool onlyHeld);
  Operation *join(ArrayRef<Operation *> members);
  void setRunning(Operation *collective, int64_t held);
  void retireOldest();
  void makeUsersOf(Operation *op);
  bool mayMake(Operation *op) const;
  int64_t getHeld(Operation *collective) const;
  int64_t getHeldBytes() const;

  Block &block;
  Movable movable;
  const OverlapLimits limits;
  llvm::function_ref<bool(Value)> isKept;
  SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> emitted;
  SmallVector<std::pair<int64_t, Operation *>>
      ahead; ///< gathers of arguments by the place of their first use
  size_t nextAhead = 0;
  SmallVector<Operation *> ready; ///< collectives whose operands exist
  SmallVector<Bucket> buckets;    ///< not begun yet, each of one kind, group and type
  SmallVector<Running> running;
  SmallVector<Operation *> joined; ///< of which buckets were made: dead
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_OVERLAP_COLLECTIVEORDER_H
