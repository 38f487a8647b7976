//===- FormKernels.cpp - groups ops into kernels ------------------------------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Transforms/Lower/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::par {
#define GEN_PASS_DEF_FORMKERNELS
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static KernelKind getKind(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.getKernelKind() : KernelKind::None;
}

/// Ops that a generated kernel computes.
static bool isFusable(Operation *op) {
  KernelKind kind = getKind(op);
  return kind == KernelKind::Elementwise || kind == KernelKind::Primitive || kind == KernelKind::Composite;
}

static RankedTensorType getType(Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()); }

/// Needs no memory of its own: recomputed wherever it is used.
static bool isFree(Operation *op) {
  if (isa<arith::ConstantOp>(op)) {
    // A dense constant is data: only splats are recomputed.
    auto value = dyn_cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return value && value.isSplat();
  }
  if (isa<IotaOp, AxisIndexOp, ExpandOp>(op))
    return true;
  return getKind(op) == KernelKind::Elementwise && op->getNumResults() == 1 && getType(op).getRank() == 0;
}

namespace {
/// Groups of one function, as they grow.
class KernelFormer {
public:
  explicit KernelFormer(func::FuncOp function) : block(function.front()), builder(function.getContext()) {}

  void run() {
    removeDead();
    cloneFree();
    removeDead();
    for (Operation &op : block)
      if (isFusable(&op) && !group.contains(&op) && !belongsToUser(&op))
        place(&op);
    for (Operation &op : llvm::reverse(block))
      if (belongsToUser(&op))
        group[&op] = group[*op.getUsers().begin()];
    for (auto &[op, number] : group)
      op->setAttr("par.kernel", builder.getI64IntegerAttr(number));
  }

private:
  void removeDead() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Later ops first, so that what a clone uses is cloned for it in turn.
  void cloneFree() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops)) {
      if (!isFree(op))
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
        Operation *user = use.getOwner();
        if (isFusable(user))
          cloneFor(op, use);
      }
    }
    // Clones of free ops use free originals: give those to them too.
    bool changed = true;
    while (changed) {
      changed = false;
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (!cloned.contains(&op))
          continue;
        for (OpOperand &operand : op.getOpOperands()) {
          Operation *producer = operand.get().getDefiningOp();
          if (!producer || cloned.contains(producer) || !isFree(producer))
            continue;
          cloneFor(producer, operand);
          changed = true;
        }
      }
    }
  }

  void cloneFor(Operation *op, OpOperand &use) {
    builder.setInsertionPoint(use.getOwner());
    Operation *clone = builder.clone(*op);
    use.set(clone->getResult(0));
    cloned.insert(clone);
  }

  /// A clone made for exactly one user goes with it.
  bool belongsToUser(Operation *op) const { return cloned.contains(op) && op->hasOneUse(); }

  void place(Operation *op) {
    SmallVector<int64_t> candidates;
    if (getKind(op) == KernelKind::Elementwise)
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        auto found = producer ? group.find(producer) : group.end();
        if (found != group.end() && canJoin(found->second, op) && !llvm::is_contained(candidates, found->second))
          candidates.push_back(found->second);
      }
    int64_t number = candidates.empty() ? members.size() : candidates.front();
    if (candidates.empty())
      members.emplace_back();
    for (int64_t other : ArrayRef<int64_t>(candidates).drop_front(candidates.empty() ? 0 : 1)) {
      for (Operation *member : members[other])
        group[member] = number;
      members[number].append(members[other]);
      members[other].clear();
    }
    group[op] = number;
    members[number].push_back(op);
  }

  /// The group runs at its last member: all of one shape, and nobody outside may need its values before `op`.
  bool canJoin(int64_t number, Operation *op) const {
    for (Operation *member : members[number]) {
      if (getKind(member) != KernelKind::Elementwise || getType(member).getShape() != getType(op).getShape())
        return false;
      for (Operation *user : member->getUsers())
        if (user->isBeforeInBlock(op) && !belongsToGroup(user, number))
          return false;
    }
    return true;
  }

  bool belongsToGroup(Operation *user, int64_t number) const {
    while (belongsToUser(user))
      user = *user->getUsers().begin();
    auto found = group.find(user);
    return found != group.end() && found->second == number;
  }

  Block &block;
  OpBuilder builder;
  llvm::DenseSet<Operation *> cloned;
  llvm::MapVector<Operation *, int64_t> group;
  SmallVector<SmallVector<Operation *>> members;
};

struct FormKernels : par::impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      KernelFormer(getOperation()).run();
  }
};
} // namespace
