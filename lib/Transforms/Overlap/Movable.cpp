//===- Movable.cpp - which ops of a function may be made late -------------------------------------------===//
#include "Movable.h"

using namespace mlir;
using namespace mlir::par;

bool par::isCompute(Operation *op) {
  if (isa<par::CallOp>(op))
    return true;
  KernelKind kind = getKernelKind(op);
  return kind == KernelKind::Gemm || kind == KernelKind::Library || kind == KernelKind::Composite;
}

/// An element for an element, or the same elements elsewhere: what surrounds collectives (transposes,
/// padding, casts) and adds gradients to sums.
static bool isCheap(Operation *op) {
  switch (getOpClass(op)) {
  case OpClass::Elementwise:
  case OpClass::View:
  case OpClass::Permutes:
  case OpClass::Slices:
  case OpClass::Pads:
  case OpClass::Repeats:
    return true;
  default:
    return false;
  }
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

/// Calls `see` once for each op that uses a result of `op`, or of a user that `isPassedOn`, until it says
/// false. What is joined has as many uses as it has tensors, on each of its ways.
static bool visitUsers(Operation *op, function_ref<bool(Operation *)> isPassedOn,
                       function_ref<bool(Operation *)> see) {
  llvm::SmallSetVector<Operation *, 8> ops;
  llvm::SmallPtrSet<Operation *, 8> seen;
  ops.insert(op);
  for (size_t next = 0; next < ops.size(); ++next)
    for (Operation *user : ops[next]->getUsers()) {
      if (isPassedOn(user))
        ops.insert(user);
      else if (seen.insert(user).second && !see(user))
        return false;
    }
  return true;
}

bool Movable::isOnlyReturned(Operation *op) const {
  // Hybrid sharding reduces what it has reduce-scattered.
  auto isPassedOn = [&](Operation *user) { return late.contains(user) || isStartedReduction(user); };
  return visitUsers(op, isPassedOn, [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

int64_t Movable::getFirstUse(Operation *op) const {
  auto first = static_cast<int64_t>(places.size());
  visitUsers(
      op, [&](Operation *user) { return late.contains(user); },
      [&](Operation *user) {
        first = std::min(first, places.lookup(user));
        return true;
      });
  return first;
}
