//===- FormKernels.cpp - groups ops into kernels --------------------------------------------------------===//
#include "FreeOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RowView.h"
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

namespace {
/// Groups of one function, as they grow.
class KernelFormer {
public:
  explicit KernelFormer(func::FuncOp function) : block(function.front()), builder(function.getContext()) {}

  void run() {
    removeDead();
    for (Operation &op : llvm::make_early_inc_range(block))
      if (isa<par::AttentionOp, AttentionBackwardOp>(op))
        placeAttention(&op);
    cloneFree();
    removeDead();
    for (Operation &op : block)
      if (auto einsum = dyn_cast<EinsumOp>(op))
        placeInAccumulator(einsum);
    for (Operation &op : block)
      if (isFusable(&op) && !group.contains(&op) && !belongsToUser(&op))
        place(&op);
    for (Operation &op : block)
      for (Value sum : findAccumulable(&op))
        placeInAccumulation(&op, sum);
    sort();
    for (Operation &op : llvm::reverse(block))
      if (belongsToUser(&op))
        group[&op] = group[*op.getUsers().begin()];
    for (auto &[op, number] : group)
      op->setAttr(ParDialect::kKernelAttr, builder.getI64IntegerAttr(number));
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
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *producer = operand.get().getDefiningOp();
      auto found = producer ? group.find(producer) : group.end();
      if (found == group.end() || found->second == number || !mayJoin(operand, found->second) ||
          feedsComposite(found->second, number) || isBetween(found->second, number))
        continue;
      merge(found->second, number);
    }
  }

  /// True if a composite op reads what another group makes: as one kernel they would compute it for every
  /// element that the composite op looks at.
  bool feedsComposite(int64_t from, int64_t into) const {
    return llvm::any_of(members[into], [&](Operation *op) {
      return getKind(op) == KernelKind::Composite &&
             llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
               Operation *producer = operand.get().getDefiningOp();
               return producer && isInGroup(producer, from) && !mayJoin(operand, from);
             });
    });
  }

  /// An elementwise op goes on with what the elements of one shape have come to. A norm does so with its
  /// input, which is written row by row as the norm needs it (a residual stream: somebody else needs it too;
  /// what nobody else needs would be computed once for every pass over the row).
  bool mayJoin(OpOperand &operand, int64_t number) const {
    Operation *op = operand.getOwner();
    if (getKind(op) == KernelKind::Elementwise)
      return haveOneShape(number, op);
    auto kernel = dyn_cast<KernelOpInterface>(op);
    bool isNormInput = kernel && kernel.writesBeforeItReads() && operand.getOperandNumber() == 0;
    return isNormInput && !operand.get().hasOneUse() && haveOneShape(number, op);
  }

  /// Attention reads rows of queries, keys and values, and writes their gradients, wherever they lie: slices
  /// before and a concatenation behind it cost nothing.
  void placeAttention(Operation *op) {
    int64_t number = members.size();
    members.emplace_back();
    unsigned first = isa<AttentionBackwardOp>(op) ? 1 : 0; // dout comes before q
    for (unsigned operand = first; operand < first + 3; ++operand)
      placeView(op->getOpOperand(operand), number);
    if (ConcatOp concat = isa<AttentionBackwardOp>(op) ? findConcat(op) : ConcatOp())
      placeConcat(concat, number);
    if (members[number].empty())
      return members.pop_back();
    members[number].push_back(op);
    group[op] = number;
  }

  /// The ops between a buffer and an operand become the operand's own.
  void placeView(OpOperand &operand, int64_t number) {
    RowView view = viewRows(operand.get());
    Value value = view.buffer;
    builder.setInsertionPoint(operand.getOwner());
    for (Operation *op : llvm::reverse(view.ops)) {
      Operation *clone = builder.clone(*op);
      clone->setOperand(0, value);
      value = clone->getResult(0);
      members[number].push_back(clone);
      group[clone] = number;
    }
    operand.set(value);
  }

  static Value stripReshapes(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = value.hasOneUse() ? reshape.getInput() : Value();
    return value;
  }

  /// The concatenation that all results of an op, and nothing else, go to, rows in rows.
  static ConcatOp findConcat(Operation *op) {
    Value value = op->getResult(0);
    while (value.hasOneUse() && isa<ReshapeOp>(*value.getUsers().begin()))
      value = value.getUsers().begin()->getResult(0);
    auto concat = value.hasOneUse() ? dyn_cast<ConcatOp>(*value.getUsers().begin()) : ConcatOp();
    if (!concat || concat.getInputs().size() != op->getNumResults())
      return {};
    for (auto [number, input] : llvm::enumerate(concat.getInputs())) {
      Value result = input.hasOneUse() ? stripReshapes(input) : Value();
      if (!result || result.getDefiningOp() != op || !result.hasOneUse() || !viewInConcat(concat, number))
        return {};
    }
    return concat;
  }

  void placeConcat(ConcatOp concat, int64_t number) {
    members[number].push_back(concat);
    group[concat] = number;
    for (Value input : concat.getInputs())
      while (auto reshape = input.getDefiningOp<ReshapeOp>()) {
        members[number].push_back(reshape);
        group[reshape] = number;
        input = reshape.getInput();
      }
  }

  /// A matrix product that nothing else reads: what comes later can be added where it lies.
  static bool isEarlierProduct(Value value, EinsumOp later) {
    auto product = value.getDefiningOp<EinsumOp>();
    return product && product->hasOneUse() && product->isBeforeInBlock(later) && matchGemm(product);
  }

  /// A product that is added to an accumulator or to an earlier product is not a kernel's business, though
  /// there may be many such additions in a row. (Sums of scalars go with whoever uses them instead.)
  void placeInAccumulator(EinsumOp einsum) {
    auto add = einsum->hasOneUse() ? dyn_cast<arith::AddFOp>(*einsum->getUsers().begin()) : arith::AddFOp();
    if (!add || isFree(add) || add.getLhs() == add.getRhs() || group.contains(add) || !matchGemm(einsum))
      return;
    Value other = add.getLhs() == einsum.getResult() ? add.getRhs() : add.getLhs();
    auto scaled = other.getDefiningOp<arith::MulFOp>();
    bool begins = scaled && scaled->hasOneUse() &&
                  isBroadcastScalar(scaled.getLhs()) != isBroadcastScalar(scaled.getRhs());
    if (!begins && !accumulations.contains(other.getDefiningOp()) && !isEarlierProduct(other, einsum))
      return;
    int64_t number = members.size();
    members.push_back({einsum, add});
    group[einsum] = group[add] = number;
    accumulations.insert(add);
    if (begins) {
      members[number].push_back(scaled);
      group[scaled] = number;
    }
  }

  /// Sums that are made term by term in their memory can begin with something else than zero: matrix
  /// products, sums over leading dimensions, scattered rows. The results of an op that are such sums.
  static SmallVector<Value, 2> findAccumulable(Operation *op) {
    if (auto einsum = dyn_cast<EinsumOp>(op); einsum && matchGemm(einsum))
      return {einsum.getResult()};
    SmallVector<Value, 2> sums;
    if (auto kernel = dyn_cast<KernelOpInterface>(op))
      for (OpResult result : op->getResults())
        if (kernel.addsUpInMemory(result.getResultNumber()))
          sums.push_back(result);
    return sums;
  }

  /// A kernel that only adds such a sum to something, or to something times a scalar, becomes the sum's own:
  /// for a product C = op(A)·op(B) + beta·C.
  void placeInAccumulation(Operation *producer, Value sum) {
    auto add = sum.hasOneUse() ? dyn_cast<arith::AddFOp>(*sum.getUsers().begin()) : arith::AddFOp();
    if (!add || isFree(add) || add.getLhs() == add.getRhs() || accumulations.contains(add))
      return;
    Value other = add.getLhs() == sum ? add.getRhs() : add.getLhs();
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
    // What runs beside a collective does not wait for it, to add what it brings.
    if (auto wait = addend.getDefiningOp<WaitOp>(); wait && producer->isBeforeInBlock(wait))
      return;
    auto own = group.find(producer);
    if (own == group.end()) {
      members[group[add]].push_back(producer);
      group[producer] = group[add];
    } else if (own->second != group[add] && !isBetween(own->second, group[add])) {
      merge(group[add], own->second);
    }
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

  /// Elementwise ops, and composite ones whose first result has the elements.
  bool haveOneShape(int64_t number, Operation *op) const {
    return llvm::all_of(members[number], [&](Operation *member) {
      KernelKind kind = getKind(member);
      return (kind == KernelKind::Elementwise || kind == KernelKind::Composite) &&
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
  llvm::DenseSet<Operation *> accumulations; ///< additions that belong to matrix products
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
