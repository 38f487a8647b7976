//===- FormKernels.cpp - groups ops into kernels --------------------------------------------------------===//
#include "FreeOps.h"
#include "KernelGroups.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RowView.h"
#include "par/Dialect/Par/IR/SumOfDots.h"
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "par/Target/Target.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_FORMKERNELS
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

/// Ops that a generated kernel computes.
static bool isFusable(Operation *op) {
  KernelKind kind = getKernelKind(op);
  return kind == KernelKind::Elementwise || kind == KernelKind::Primitive || kind == KernelKind::Composite;
}

static RankedTensorType getType(Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()); }

namespace {
/// Groups of one function, as they grow.
class KernelFormer {
public:
  /// A launch costs a device more than a call costs a processor, and so does a tensor that is read again.
  KernelFormer(func::FuncOp function, const Target &target)
      : block(function.front()), limits(target.limits), builder(function.getContext()),
        groups(block, /*joinsPlaced=*/target.hasDeviceProgram) {}

  void run() {
    removeDead();
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto library = dyn_cast<LibraryOpInterface>(op))
        placeLibrary(library);
    cloneFree();
    removeDead();
    for (Operation &op : block)
      if (auto einsum = dyn_cast<EinsumOp>(op))
        placeInAccumulator(einsum);
    if (limits.hasEpilogues)
      placeEpilogues();
    for (Operation &op : block)
      if (isFusable(&op) && !groups.contains(&op) && !groups.belongsToUser(&op))
        place(&op);
    for (Operation &op : block)
      for (OpResult result : op.getResults())
        if (isAccumulable(result) && !epilogues.contains(&op))
          placeInAccumulation(result);
    if (limits.mostListed) {
      listTensors([&](Operation *op) { return isUpdateAlone(op); });
      listTensors([&](Operation *op) { return isSumAlone(op); });
      listDots();
    }
    groups.sort();
    for (Operation &op : llvm::reverse(block))
      if (groups.belongsToUser(&op))
        groups.add(*groups.find(*op.getUsers().begin()), &op);
    groups.number(ParDialect::kKernelAttr);
  }

private:
  void removeDead() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Every fusable user of a free op gets one of its own. Later ops first, so that what a clone uses is
  /// cloned for it in turn.
  void cloneFree() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops)) {
      if (!isFree(op))
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
        if (isFusable(use.getOwner()))
          giveTo(op, use);
    }
  }

  /// The last user gets the op itself.
  void giveTo(Operation *op, OpOperand &use) {
    if (op->hasOneUse()) {
      op->moveBefore(use.getOwner());
      groups.addClone(op);
      return;
    }
    builder.setInsertionPoint(use.getOwner());
    Operation *clone = builder.clone(*op);
    use.set(clone->getResult(0));
    groups.addClone(clone);
  }

  /// Joins all groups of producers that it may join, so that the groups become one kernel with it.
  void place(Operation *op) {
    int64_t number = groups.create(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *producer = operand.get().getDefiningOp();
      std::optional<int64_t> from = producer ? groups.find(producer) : std::nullopt;
      if (from && *from != number && mayJoin(operand, *from) && !feedsComposite(*from, number) &&
          !groups.isBetween(*from, number))
        groups.merge(*from, number);
    }
  }

  /// True if a composite op reads what another group makes: as one kernel they would compute it for every
  /// element that the composite op looks at.
  bool feedsComposite(int64_t from, int64_t into) const {
    return llvm::any_of(groups.getMembers(into), [&](Operation *op) {
      return getKernelKind(op) == KernelKind::Composite &&
             llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
               Operation *producer = operand.get().getDefiningOp();
               return producer && groups.isIn(producer, from) && !mayJoin(operand, from);
             });
    });
  }

  /// An elementwise op goes on with what the elements of one shape have come to. A norm does so with its
  /// input, which is written row by row as the norm needs it (a residual stream: somebody else needs it too;
  /// what nobody else needs would be computed once for every pass over the row).
  bool mayJoin(OpOperand &operand, int64_t number) const {
    Operation *op = operand.getOwner();
    if (groups.isElementwise(op))
      return haveOneShape(number, op);
    auto kernel = dyn_cast<KernelOpInterface>(op);
    bool isNormInput = kernel && kernel.writesBeforeItReads() && operand.getOperandNumber() == 0;
    return isNormInput && !operand.get().hasOneUse() && haveOneShape(number, op);
  }

  /// A library reads and writes some rows wherever they lie: slices before and a concatenation behind it cost
  /// nothing.
  void placeLibrary(LibraryOpInterface op) {
    SmallVector<Operation *> members;
    for (unsigned operand : op.getRowOperands())
      placeView(op->getOpOperand(operand), members);
    if (ConcatOp concat = findConcat(op, op.getRowResults()))
      placeConcat(concat, members);
    if (members.empty())
      return;
    members.push_back(op);
    groups.create(members);
  }

  /// The ops between a buffer and an operand become the operand's own.
  void placeView(OpOperand &operand, SmallVectorImpl<Operation *> &members) {
    RowView view = viewRows(operand.get());
    Value value = view.buffer;
    builder.setInsertionPoint(operand.getOwner());
    for (Operation *op : llvm::reverse(view.ops)) {
      Operation *clone = builder.clone(*op);
      clone->setOperand(0, value);
      value = clone->getResult(0);
      members.push_back(clone);
    }
    operand.set(value);
  }

  static Value stripReshapes(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = value.hasOneUse() ? reshape.getInput() : Value();
    return value;
  }

  /// The concatenation that these results of an op, and nothing else, go to, rows in rows.
  static ConcatOp findConcat(Operation *op, ArrayRef<unsigned> results) {
    if (results.empty())
      return {};
    Value value = op->getResult(results.front());
    while (value.hasOneUse() && isa<ReshapeOp>(*value.getUsers().begin()))
      value = value.getUsers().begin()->getResult(0);
    auto concat = value.hasOneUse() ? dyn_cast<ConcatOp>(*value.getUsers().begin()) : ConcatOp();
    if (!concat || concat.getInputs().size() != results.size())
      return {};
    for (auto [number, input] : llvm::enumerate(concat.getInputs())) {
      Value result = input.hasOneUse() ? stripReshapes(input) : Value();
      if (!result || result.getDefiningOp() != op || !result.hasOneUse() || !viewInConcat(concat, number) ||
          !llvm::is_contained(results, cast<OpResult>(result).getResultNumber()))
        return {};
    }
    return concat;
  }

  static void placeConcat(ConcatOp concat, SmallVectorImpl<Operation *> &members) {
    members.push_back(concat);
    for (Value input : concat.getInputs())
      while (auto reshape = input.getDefiningOp<ReshapeOp>()) {
        members.push_back(reshape);
        input = reshape.getInput();
      }
  }

  /// A matrix product that nothing else reads: what comes later can be added where it lies.
  static bool isEarlierProduct(Value value, EinsumOp later) {
    auto product = value.getDefiningOp<EinsumOp>();
    return product && product->hasOneUse() && product->isBeforeInBlock(later) &&
           product.getKernelKind() == KernelKind::Gemm;
  }

  /// A product that is added to an accumulator or to an earlier product is not a kernel's business, though
  /// there may be many such additions in a row. (Sums of scalars go with whoever uses them instead.)
  void placeInAccumulator(EinsumOp einsum) {
    std::optional<Addition> addition = findAddition(einsum.getResult());
    if (!addition || isFree(addition->add) || groups.contains(addition->add) ||
        einsum.getKernelKind() != KernelKind::Gemm)
      return;
    auto [add, other, scaled, begin, scale] = *addition;
    bool begins = scaled && isa<BlockArgument>(scale);
    if (!begins && !accumulations.contains(other.getDefiningOp()) && !isEarlierProduct(other, einsum))
      return;
    int64_t number = groups.create({einsum, add});
    accumulations.insert(add);
    if (begins)
      groups.add(number, scaled);
  }

  /// What the library computes of a product in its call becomes the product's own. Sums of operands come
  /// last: whether there is a way from them to the product is asked of groups that are there.
  void placeEpilogues() {
    SmallVector<std::pair<EinsumOp, Operation *>> sums;
    for (Operation &op : block) {
      auto product = dyn_cast<EinsumOp>(op);
      std::optional<rank::ProductEpilogue> epilogue = product ? rank::matchEpilogue(product) : std::nullopt;
      if (!epilogue || groups.contains(epilogue->ops.front()))
        continue;
      if (epilogue->vector && epilogue->vector.getDefiningOp() == epilogue->ops.front())
        sums.push_back({product, epilogue->ops.front()});
      else
        placeBehind(product, epilogue->ops);
    }
    for (auto [product, sum] : sums)
      placeBeside(product, sum);
  }

  void placeBehind(EinsumOp product, ArrayRef<Operation *> ops) {
    int64_t number = groups.create(product.getOperation());
    for (Operation *op : ops)
      if (!groups.belongsToUser(op))
        groups.add(number, op);
    epilogues.insert(ops.begin(), ops.end());
  }

  void placeBeside(EinsumOp product, Operation *sum) {
    if (groups.contains(sum))
      return; // another product's
    std::optional<int64_t> own = groups.find(product);
    if (!own)
      own = groups.create(product.getOperation());
    int64_t number = groups.create(sum);
    if (groups.isBetween(number, *own))
      return;
    groups.merge(number, *own);
    epilogues.insert(sum);
  }

  /// Sums that are made term by term in their memory can begin with something else than zero: matrix
  /// products, sums over leading dimensions, scattered rows.
  static bool isAccumulable(OpResult result) {
    auto kernel = dyn_cast<KernelOpInterface>(result.getOwner());
    return kernel &&
           (kernel.getKernelKind() == KernelKind::Gemm || kernel.addsUpInMemory(result.getResultNumber()));
  }

  /// A kernel that only adds such a sum to something, or to something times a scalar, becomes the sum's own:
  /// for a product C = op(A)·op(B) + beta·C.
  void placeInAccumulation(OpResult sum) {
    Operation *producer = sum.getOwner();
    std::optional<Addition> addition = findAddition(sum);
    if (!addition || isFree(addition->add) || accumulations.contains(addition->add))
      return;
    auto [add, other, scaled, begin, scale] = *addition;
    int64_t own = *groups.find(add);
    bool scales = scaled && groups.isIn(scaled, own);
    if (groups.getMembers(own).size() != (scales ? 2u : 1u))
      return;
    Value addend = scales ? begin : other;
    // Neither a product of two tensors nor something broadcast (a bias).
    if ((scales && !isa<BlockArgument>(scale)) ||
        (addend.getDefiningOp() && groups.belongsToUser(addend.getDefiningOp())))
      return;
    // What runs beside a collective does not wait for it, to add what it brings.
    if (auto wait = addend.getDefiningOp<WaitOp>(); wait && producer->isBeforeInBlock(wait))
      return;
    std::optional<int64_t> sums = groups.find(producer);
    if (!sums)
      groups.add(own, producer);
    else if (*sums != own && !groups.isBetween(*sums, own))
      groups.merge(own, *sums);
  }

  //===--------------------------------------------------------------------===//
  // Lists of tensors
  //===--------------------------------------------------------------------===//

  /// An update that is a kernel of its own. What is copied for it is updated when it has come.
  bool isUpdateAlone(Operation *op) const {
    return isa<AdamWOp, SgdOp>(op) && groups.contains(op) &&
           groups.getMembers(*groups.find(op)).size() == 1 &&
           llvm::none_of(op->getOperands(), [](Value operand) {
             return isa_and_nonnull<TransferOp, WaitOp>(operand.getDefiningOp());
           });
  }

  /// A kernel of its own that adds to an accumulator what a product's call has summed up beside it: biases'
  /// gradients. Nobody waits for them within the function.
  bool isSumAlone(Operation *op) const {
    auto add = dyn_cast<arith::AddFOp>(op);
    if (!add || !groups.contains(op) || !llvm::hasSingleElement(op->getUsers()) ||
        *op->user_begin() != block.getTerminator())
      return false;
    auto isOfCall = [&](Value value) { return epilogues.contains(value.getDefiningOp()); };
    Value begin = isOfCall(add.getLhs()) ? add.getRhs() : add.getLhs();
    auto scaled = begin.getDefiningOp<arith::MulFOp>();
    int64_t number = *groups.find(op);
    return (isOfCall(add.getLhs()) || isOfCall(add.getRhs())) && scaled && groups.isIn(scaled, number) &&
           groups.getMembers(number).size() == 2;
  }

  /// Kernels of a few tensors each become one of a list of them: each launch costs, and each that ends leaves
  /// a GPU half empty for a while.
  void listTensors(function_ref<bool(Operation *)> isListed) {
    std::optional<int64_t> list;
    int64_t buffers = 0;
    for (Operation &op : block) {
      if (!isListed(&op))
        continue;
      int64_t number = *groups.find(&op), needed = 0;
      for (Operation *member : groups.getMembers(number))
        needed += member->getNumOperands() + member->getNumResults();
      if (list && buffers + needed <= limits.mostListed && !groups.isBetween(number, *list)) {
        groups.merge(number, *list);
        buffers += needed;
      } else {
        list = number;
        buffers = needed;
      }
    }
  }

  /// The group that computes an op, if it is no library's.
  std::optional<int64_t> findGroup(Operation *op) const {
    while (groups.belongsToUser(op))
      op = *op->getUsers().begin();
    return isFusable(op) ? groups.find(op) : std::nullopt;
  }

  /// Squares of gradients are added up by who adds up those of all gradients; they have no other user, so
  /// nothing is between. The largest sum of a group comes last, and is the only one that has a list.
  void listDots() {
    for (Operation &op : llvm::reverse(block)) {
      auto add = dyn_cast<arith::AddFOp>(op);
      std::optional<int64_t> group = add ? findGroup(add) : std::nullopt;
      SmallVector<EinsumOp> dots = group ? findDots(add.getResult()) : SmallVector<EinsumOp>();
      if (dots.empty() || static_cast<int64_t>(dots.size()) > limits.mostListed ||
          !groups.haveShape(*group, {})) // also one that has a list already
        continue;
      for (EinsumOp dot : dots)
        groups.add(*group, dot);
    }
  }

  bool haveOneShape(int64_t number, Operation *op) const {
    return groups.haveShape(number, getType(op).getShape());
  }

  Block &block;
  const TargetLimits &limits;
  OpBuilder builder;
  KernelGroups groups;
  llvm::DenseSet<Operation *> accumulations; ///< additions that belong to matrix products
  llvm::DenseSet<Operation *> epilogues;     ///< what products' calls compute beside them
};

struct FormKernels : par::impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (!getOperation().isExternal())
      KernelFormer(getOperation(), *target).run();
  }
};
} // namespace
