//===- CollectiveOrder.h - the order of a function in which collectives overlap ---------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_OVERLAP_COLLECTIVEORDER_H
#define PAR_LIB_TRANSFORMS_OVERLAP_COLLECTIVEORDER_H

#include "Movable.h"

namespace mlir::par {

/// Marks a collective as started and gives its users the results of a wait, which stands behind it.
void startCollective(Operation *collective);

/// Lists the ops of a block anew: collectives begin early, late ops stand before what needs them, all else
/// keeps its order. Every collective was started before.
class CollectiveOrder {
public:
  /// `prefetchLimit`: bytes gathered ahead, and kept for reductions; -1: what one layer takes. `isKept`: the
  /// memory of a value is not the function's to free.
  CollectiveOrder(Block &block, int64_t prefetchLimit, llvm::function_ref<bool(Value)> isKept);
  void run();

private:
  /// One that is deferrable.
  struct Reduction {
    Operation *collective;
    int64_t held; ///< bytes that it keeps alive
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
  void addWaiting(Operation *reduction);
  void beginWaiting();
  void finish();

  Operation *findMaker(Operation *reduction) const;
  int64_t findLayerBytes() const;
  void setRunning(Operation *collective, int64_t held);
  void retireOldest();
  void makeUsersOf(Operation *op);
  bool mayMake(Operation *op) const;
  int64_t getHeld(Operation *collective) const;
  int64_t getHeldBytes() const;

  Block &block;
  Movable movable;
  int64_t limit;
  llvm::function_ref<bool(Value)> isKept;
  SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> emitted;
  SmallVector<std::pair<int64_t, Operation *>>
      ahead; ///< gathers of arguments by the place of their first use
  size_t nextAhead = 0;
  SmallVector<Operation *> ready; ///< collectives whose operands exist
  SmallVector<Reduction> waiting; ///< until something is computed, behind gathers for that
  SmallVector<Reduction> running;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_OVERLAP_COLLECTIVEORDER_H
