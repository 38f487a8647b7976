//===- Movable.cpp - which ops of a function may be made late -------------------------------------------===//
#include "Movable.h"

using namespace mlir;
using namespace mlir::par;

static KernelKind getKind(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.getKernelKind() : KernelKind::None;
}

bool par::isCompute(Operation *op) {
  if (isa<par::CallOp>(op))
    return true;
  KernelKind kind = getKind(op);
  return kind == KernelKind::Gemm || kind == KernelKind::Attention || kind == KernelKind::Composite;
}

/// An element for an element, or the same elements elsewhere: what surrounds collectives (transposes,
/// padding, casts) and adds gradients to sums.
static bool isCheap(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, PadOp, ExpandOp, AllSliceOp>(op) ||
         getKind(op) == KernelKind::Elementwise;
}

Movable::Movable(Block &block) {
  for (Operation &op : block)
    places.try_emplace(&op, static_cast<int64_t>(places.size()));
  findAhead(block);
  findLate(block);
  findDeferrable(block);
}

void Movable::findAhead(Block &block) {
  for (Operation &op : block)
    if (isa<AllGatherOp>(op) && op.hasAttr(ParDialect::kStartedAttr) &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return dependsOnArguments(operand); }))
      ahead.insert(&op);
}

/// First what is made of collectives, then what is made for that only.
void Movable::findLate(Block &block) {
  for (Operation &op : block) {
    bool receives = llvm::any_of(op.getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && late.contains(operand.getDefiningOp());
    });
    if (isa<WaitOp>(op) || (isCheap(&op) && receives))
      late.insert(&op);
  }
  for (Operation &op : llvm::reverse(block))
    if (isCheap(&op) && !op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return late.contains(user) || ahead.contains(user);
        }))
      late.insert(&op);
}

bool Movable::dependsOnArguments(Value value) const {
  Operation *op = value.getDefiningOp();
  return !op || (isCheap(op) &&
                 llvm::all_of(op->getOperands(), [&](Value operand) { return dependsOnArguments(operand); }));
}

static bool isStartedReduction(Operation *op) {
  return isa<AllReduceOp, ReduceScatterOp>(op) && op->hasAttr(ParDialect::kStartedAttr);
}

void Movable::findDeferrable(Block &block) {
  for (Operation &op : block)
    if (isStartedReduction(&op) && isOnlyReturned(&op))
      deferrable.insert(&op);
}

bool Movable::isOnlyReturned(Operation *op) const {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    // Hybrid sharding reduces what it has reduce-scattered.
    bool isPassedOn = late.contains(user) || isStartedReduction(user);
    return user->hasTrait<OpTrait::IsTerminator>() || (isPassedOn && isOnlyReturned(user));
  });
}

int64_t Movable::getFirstUse(Operation *op) const {
  int64_t first = static_cast<int64_t>(places.size());
  for (Operation *user : op->getUsers())
    first = std::min(first, late.contains(user) ? getFirstUse(user) : places.lookup(user));
  return first;
}
