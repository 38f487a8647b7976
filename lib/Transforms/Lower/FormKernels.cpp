//===- FormKernels.cpp - groups ops into kernels --------------------------------------------------------===//
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Transforms/Lower/Passes.h"

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
    for (Operation &op : block)
      if (auto einsum = dyn_cast<EinsumOp>(op))
        placeInAccumulation(einsum);
    sort();
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

  /// Joins all groups of producers that it may join, so that the groups become one kernel with it.
  void place(Operation *op) {
    int64_t number = members.size();
    members.push_back({op});
    group[op] = number;
    if (getKind(op) != KernelKind::Elementwise)
      return;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      auto found = producer ? group.find(producer) : group.end();
      if (found == group.end() || found->second == number || !haveOneShape(found->second, op) ||
          isBetween(found->second, number))
        continue;
      merge(found->second, number);
    }
  }

  /// A kernel that only adds a matrix product to something, or to something times a scalar, becomes the
  /// product's own: C = op(A)·op(B) + beta·C.
  void placeInAccumulation(EinsumOp einsum) {
    if (!einsum->hasOneUse() || !matchGemm(einsum))
      return;
    auto add = dyn_cast<arith::AddFOp>(*einsum->getUsers().begin());
    if (!add || add.getLhs() == add.getRhs())
      return;
    Value other = add.getLhs() == einsum.getResult() ? add.getRhs() : add.getLhs();
    auto scaled = other.getDefiningOp<arith::MulFOp>();
    bool scales = scaled && scaled->hasOneUse() && isInGroup(scaled, group[add]);
    if (members[group[add]].size() != (scales ? 2u : 1u))
      return;
    Value addend = other;
    if (scales)
      addend = isBroadcastScalar(scaled.getLhs()) ? scaled.getRhs() : scaled.getLhs();
    // Neither a product of two tensors nor something broadcast (a bias).
    if ((scales && !isBroadcastScalar(addend == scaled.getRhs() ? scaled.getLhs() : scaled.getRhs())) ||
        (addend.getDefiningOp() && belongsToUser(addend.getDefiningOp())))
      return;
    int64_t number = group[add];
    members[number].push_back(einsum);
    group[einsum] = number;
  }

  bool isInGroup(Operation *op, int64_t number) const {
    auto found = group.find(op);
    return found != group.end() && found->second == number;
  }

  static bool isBroadcastScalar(Value value) {
    auto expand = value.getDefiningOp<ExpandOp>();
    return expand && expand.getInput().getType().getRank() == 0 && isa<BlockArgument>(expand.getInput());
  }

  void merge(int64_t from, int64_t into) {
    for (Operation *member : members[from])
      group[member] = into;
    members[into].append(members[from]);
    members[from].clear();
  }

  bool haveOneShape(int64_t number, Operation *op) const {
    return llvm::all_of(members[number], [&](Operation *member) {
      return getKind(member) == KernelKind::Elementwise &&
             getType(member).getShape() == getType(op).getShape();
    });
  }

  /// What runs as one: the group of an op or of the op that it was cloned for, else the op alone.
  Operation *getUnit(Operation *op) const {
    while (belongsToUser(op))
      op = *op->getUsers().begin();
    auto found = group.find(op);
    return found != group.end() ? members[found->second].front() : op;
  }

  ArrayRef<Operation *> getMembers(Operation *const &unit) const {
    auto found = group.find(unit);
    return found != group.end() ? ArrayRef<Operation *>(members[found->second]) : ArrayRef<Operation *>(unit);
  }

  /// True if something else lies on a way between two groups, in either direction: as one kernel they would
  /// need it before and after they run.
  bool isBetween(int64_t a, int64_t b) const { return reaches(a, b) || reaches(b, a); }

  bool reaches(int64_t from, int64_t to) const {
    Operation *source = members[from].front(), *target = members[to].front();
    llvm::DenseSet<Operation *> visited;
    SmallVector<Operation *> work;
    auto visit = [&](Operation *unit, bool first) {
      for (Operation *member : getMembers(unit))
        forEachProducer(member, [&](Operation *producer) {
          Operation *next = getUnit(producer);
          // Straight from one group to the other is no way around.
          if (next != target && !(first && next == source) && visited.insert(next).second)
            work.push_back(next);
        });
    };
    visit(target, true);
    while (!work.empty()) {
      Operation *unit = work.pop_back_val();
      if (unit == source)
        return true;
      visit(unit, false);
    }
    return false;
  }

  /// Producers of the operands of an op and of the clones that belong to it.
  void forEachProducer(Operation *op, llvm::function_ref<void(Operation *)> use) const {
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        belongsToUser(producer) ? forEachProducer(producer, use) : use(producer);
  }

  /// Puts the ops of a kernel next to each other; kernels and other ops in an order in which everything is
  /// computed before it is used, as close to the old order as possible.
  void sort() {
    llvm::DenseMap<Operation *, int64_t> position; // of a unit: its last op's
    llvm::MapVector<Operation *, SmallVector<Operation *>> units;
    int64_t count = 0;
    for (Operation &op : block.without_terminator()) {
      Operation *unit = getUnit(&op);
      units[unit].push_back(&op);
      position[unit] = count++;
    }
    llvm::DenseMap<Operation *, llvm::SmallSetVector<Operation *, 4>> users;
    llvm::DenseMap<Operation *, int64_t> missing;
    for (auto &[unit, ops] : units)
      for (Operation *op : ops)
        for (Value operand : op->getOperands())
          if (Operation *producer = operand.getDefiningOp())
            if (Operation *before = getUnit(producer); before != unit && users[before].insert(unit))
              ++missing[unit];
    std::set<std::pair<int64_t, Operation *>> ready;
    for (auto &[unit, ops] : units)
      if (!missing.lookup(unit))
        ready.insert({position[unit], unit});
    Operation *end = block.getTerminator();
    while (!ready.empty()) {
      Operation *unit = ready.begin()->second;
      ready.erase(ready.begin());
      for (Operation *op : units[unit])
        op->moveBefore(end);
      for (Operation *user : users[unit])
        if (--missing[user] == 0)
          ready.insert({position[user], user});
    }
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
