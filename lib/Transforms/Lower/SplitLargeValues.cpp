//===- SplitLargeValues.cpp - values too large to exist whole are computed in parts ---------------------===//
#include "mlir/IR/IRMapping.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SPLITLARGEVALUES
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// The ops around one large value, and along which of their dimensions they are computed in parts.
class Split {
public:
  Split(Operation *producer, Value large, int64_t dim, int64_t limit)
      : block(*producer->getBlock()), limit(limit) {
    dims[large] = dim;
    ops.insert(producer);
  }

  /// False if some op cannot be computed in parts.
  bool close() {
    for (size_t before = 0; before != ops.size();) {
      before = ops.size();
      if (!markAll())
        return false;
      addNeighbours();
      addBetween();
    }
    return llvm::none_of(ops, [&](Operation *op) { return !isMarked(op) || usesSumOfParts(op); });
  }

  void apply(int64_t parts) {
    SmallVector<Operation *> order;
    for (Operation &op : block)
      if (ops.contains(&op))
        order.push_back(&op);
    moveDependents(order.back());
    for (Operation *op : order)
      for (Value result : op->getResults())
        if (!dims.contains(result))
          findSum(result, order.front());
    OpBuilder builder(order.back());
    builder.setInsertionPointAfter(order.back());
    for (int64_t part = 0; part < parts; ++part)
      clonePart(builder, order, part, parts);
    replaceAll(builder);
    for (Operation *op : llvm::reverse(order))
      op->erase();
  }

private:
  /// The factor that the op's marked values have in common; -1 if there is none.
  std::optional<int64_t> findFactor(Operation *op, RuleAttr rule) {
    std::optional<int64_t> factor;
    auto meet = [&](int64_t found) { factor = factor.value_or(found) == found ? found : -1; };
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (auto dim = dims.find(operand); dim != dims.end())
        meet(rule.getOperandFactor(number, dim->second));
    for (auto [number, result] : llvm::enumerate(op->getResults()))
      if (auto dim = dims.find(result); dim != dims.end())
        meet(rule.getResultFactor(number, dim->second));
    return factor;
  }

  /// Goes from value to value until nothing new is known.
  bool markAll() {
    for (size_t before = 0; before != dims.size();) {
      before = dims.size();
      for (size_t number = 0; number < ops.size(); ++number)
        if (isMarked(ops[number]) && !mark(ops[number]))
          return false;
    }
    return true;
  }

  bool isMarked(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) { return dims.contains(operand); }) ||
           llvm::any_of(op->getResults(), [&](Value result) { return dims.contains(result); });
  }

  /// Writes the dimensions of the op's other values.
  bool mark(Operation *op) {
    if (auto reduce = dyn_cast<AllReduceOp>(op))
      return markAllReduce(reduce);
    // Their elements are numbered or compared by place, which parts would begin again.
    if (isa<DropoutOp, par::AttentionOp, AttentionBackwardOp, IotaOp>(op))
      return false;
    auto rules = dyn_cast<ShardingRuleOpInterface>(op);
    if (!rules)
      return false;
    RuleAttr rule = rules.getShardingRule();
    std::optional<int64_t> factor = findFactor(op, rule);
    if (!factor || *factor < 0 || !rule.maySplit(*factor) ||
        rule.getKinds()[*factor] == FactorKind::Permutation)
      return false;
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      for (int64_t dim = 0, rank = typeOf(operand).getRank(); dim < rank; ++dim)
        if (rule.getOperandFactor(number, dim) == *factor && !setDim(operand, dim))
          return false;
    for (auto [number, result] : llvm::enumerate(op->getResults()))
      for (int64_t dim = 0, rank = typeOf(result).getRank(); dim < rank; ++dim)
        if (rule.getResultFactor(number, dim) == *factor && !setDim(result, dim))
          return false;
    return true;
  }

  bool markAllReduce(AllReduceOp op) {
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
      auto known = dims.contains(operand) ? dims.find(operand) : dims.find(result);
      if (known == dims.end())
        return false;
      int64_t dim = known->second;
      if (!setDim(operand, dim) || !setDim(result, dim))
        return false;
    }
    return true;
  }

  bool setDim(Value value, int64_t dim) { return dims.try_emplace(value, dim).first->second == dim; }

  bool isLarge(Value value) const { return rank::getBytes(value.getType()) > limit; }

  /// What makes and uses the large values that are split.
  void addNeighbours() {
    for (auto &[value, dim] : SmallVector<std::pair<Value, int64_t>>(dims.begin(), dims.end())) {
      if (!isLarge(value))
        continue;
      // A constant takes no memory; it is sliced like an argument.
      if (Operation *producer = value.getDefiningOp(); producer && producer->getNumOperands() > 0)
        ops.insert(producer);
      for (Operation *user : value.getUsers())
        ops.insert(user);
    }
  }

  /// What depends on an op of the split and is needed by another.
  void addBetween() {
    llvm::DenseSet<Operation *> after, before;
    for (Operation &op : block)
      if (llvm::any_of(op.getOperands(), [&](Value operand) {
            Operation *producer = operand.getDefiningOp();
            return producer && (ops.contains(producer) || after.contains(producer));
          }))
        after.insert(&op);
    for (Operation &op : llvm::reverse(block))
      if (llvm::any_of(op.getUsers(),
                       [&](Operation *user) { return ops.contains(user) || before.contains(user); }))
        before.insert(&op);
    for (Operation &op : block)
      if (after.contains(&op) && before.contains(&op))
        ops.insert(&op);
  }

  /// An op of the split that needs what is whole only after all parts.
  bool usesSumOfParts(Operation *op) const {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return true;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && ops.contains(operand.getDefiningOp()) && !dims.contains(operand);
    });
  }

  static RankedTensorType divide(RankedTensorType type, int64_t dim, int64_t parts) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= parts;
    return type.clone(shape);
  }

  /// What uses results of the split, but stands before its last op, has to follow it.
  void moveDependents(Operation *last) {
    llvm::DenseSet<Operation *> dependents;
    Operation *place = last;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (&op == last)
        break;
      bool depends = llvm::any_of(op.getOperands(), [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return producer && (ops.contains(producer) || dependents.contains(producer));
      });
      if (ops.contains(&op) || !depends)
        continue;
      dependents.insert(&op);
      op.moveAfter(place);
      place = &op;
    }
  }

  void clonePart(OpBuilder &builder, ArrayRef<Operation *> order, int64_t part, int64_t parts) {
    IRMapping mapping;
    for (Operation *op : order) {
      for (Value operand : op->getOperands())
        if (auto dim = dims.find(operand); dim != dims.end() && !mapping.contains(operand))
          mapping.map(operand, cut(builder, operand, dim->second, part, parts));
      Operation *clone = builder.clone(*op, mapping);
      for (auto [result, copy] : llvm::zip(op->getResults(), clone->getResults())) {
        if (auto dim = dims.find(result); dim != dims.end()) {
          copy.setType(divide(typeOf(result), dim->second, parts));
          if (isUsedOutside(result))
            pieces[result].push_back(copy);
        } else if (auto sum = sums.find(result); sum != sums.end()) {
          // At once, so that the part accumulates where the sum is.
          Value &total = sum->second.total;
          total = total ? builder.create<arith::AddFOp>(op->getLoc(), total, copy).getResult() : copy;
        }
      }
    }
  }

  bool isUsedOutside(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return !ops.contains(user); });
  }

  static Value cut(OpBuilder &builder, Value whole, int64_t dim, int64_t part, int64_t parts) {
    RankedTensorType type = divide(typeOf(whole), dim, parts);
    SmallVector<int64_t> offsets(type.getRank(), 0);
    offsets[dim] = part * type.getDimSize(dim);
    return builder.create<SliceOp>(whole.getLoc(), type, whole, offsets);
  }

  /// What a result is that lacks the dimension: a sum over the parts. Where it is only added to something
  /// else, the parts are added to that, one by one.
  void findSum(Value result, Operation *first) {
    if (!isUsedOutside(result))
      return;
    auto add = result.hasOneUse() ? dyn_cast<arith::AddFOp>(*result.getUsers().begin()) : arith::AddFOp();
    Value other = !add || add.getLhs() == add.getRhs() ? Value()
                  : add.getLhs() == result             ? add.getRhs()
                                                       : add.getLhs();
    if (other && hoist(other, first))
      sums[result] = {other, add};
    else
      sums[result] = {};
  }

  /// Moves what makes `value` before an op, if it does not depend on the split and is no product: those stay
  /// where they are, with all that they need.
  bool hoist(Value value, Operation *before) {
    Operation *op = value.getDefiningOp();
    if (!op || op->isBeforeInBlock(before))
      return true;
    if (ops.contains(op) || !isa<KernelOpInterface>(op) || isa<EinsumOp>(op))
      return false;
    for (Value operand : op->getOperands())
      if (!hoist(operand, before))
        return false;
    op->moveBefore(before);
    return true;
  }

  void replaceAll(OpBuilder &builder) {
    auto outside = [&](OpOperand &use) { return !ops.contains(use.getOwner()); };
    for (auto &[value, values] : pieces) {
      Value joined = builder.create<ConcatOp>(value.getLoc(), value.getType(), values, dims.lookup(value));
      value.replaceUsesWithIf(joined, outside);
    }
    for (auto &[value, sum] : sums) {
      if (!sum.add) {
        value.replaceUsesWithIf(sum.total, outside);
        continue;
      }
      sum.add->replaceAllUsesWith(ValueRange{sum.total});
      sum.add->erase();
    }
  }

  struct Sum {
    Value total;
    Operation *add =
        nullptr; ///< the addition that the total stands for, if it began with that one's other operand
  };

  Block &block;
  int64_t limit;
  llvm::SetVector<Operation *> ops;
  llvm::MapVector<Value, int64_t> dims; ///< of values that are split
  llvm::MapVector<Value, SmallVector<Value>> pieces;
  llvm::MapVector<Value, Sum> sums;
};

struct SplitLargeValues : par::impl::SplitLargeValuesBase<SplitLargeValues> {
  using SplitLargeValuesBase::SplitLargeValuesBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // Every split leaves smaller values: an end comes by itself.
    while (splitOne())
      ;
  }

  bool splitOne() {
    for (Operation &op : getOperation().front())
      for (Value result : op.getResults())
        if (rank::getBytes(result.getType()) > limit && split(&op, result))
          return true;
    return false;
  }

  /// Only products make large values from small ones, so only theirs can vanish.
  bool split(Operation *op, Value large) {
    auto einsum = dyn_cast<EinsumOp>(op);
    if (!einsum)
      return false;
    RankedTensorType type = typeOf(large);
    int64_t rows = type.getNumElements() / type.getShape().back();
    for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim) {
      int64_t parts = chooseParts(type.getDimSize(dim), rows, rank::getBytes(type));
      if (parts == 1 || isPassedOn(einsum, dim))
        continue;
      // What is no larger than the product's own operand exists whole anyway.
      Split attempt(op, large, dim, std::max<int64_t>(limit, getOperandBytes(einsum, dim)));
      if (!attempt.close())
        continue;
      attempt.apply(parts);
      return true;
    }
    return false;
  }

  /// An operand about as large has the dimension too: little would be won. (Logits are larger than what they
  /// are made of by the ratio of vocabulary and width, 8 and more; what is inside an MLP by 4 at most.)
  static bool isPassedOn(EinsumOp op, int64_t dim) {
    constexpr int64_t worthwhile = 4;
    return getOperandBytes(op, dim) * worthwhile >= rank::getBytes(op.getType());
  }

  /// Of the largest operand that has the result's dimension.
  static int64_t getOperandBytes(EinsumOp op, int64_t dim) {
    int64_t bytes = 0;
    char letter = op.getResultLetters()[dim];
    for (auto [letters, operand] : llvm::zip(op.getOperandLetters(), op.getInputs()))
      if (letters.contains(letter))
        bytes = std::max(bytes, rank::getBytes(operand.getType()));
    return bytes;
  }

  /// The fewest parts that are within the limit, as far as parts of `leastRows` rows can be.
  int64_t chooseParts(int64_t size, int64_t rows, int64_t bytes) const {
    int64_t best = 1;
    for (int64_t parts = 2; parts <= size; ++parts) {
      if (size % parts || rows / parts < leastRows)
        continue;
      best = parts;
      if (bytes / parts <= limit)
        break;
    }
    return best;
  }
};
} // namespace
