//===- Split.cpp - what is computed in parts of rows ----------------------------------------------------===//
#include "Split.h"
#include "FreeOps.h"
#include "par/Dialect/Rank/IR/Rank.h"

using namespace mlir;
using namespace mlir::par;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Constants, positions, scalars and broadcasts of those.
static bool isMadeOfNothing(Operation *op) {
  auto expand = dyn_cast<ExpandOp>(op);
  return isFree(op) && (!expand || typeOf(expand.getInput()).getRank() == 0);
}

Split::Split(EinsumOp producer, int64_t first, int64_t count, int64_t limit)
    : block(*producer->getBlock()), limit(limit), rows(producer.getType().getShape().slice(first, count)) {
  dims[producer.getResult()] = first;
  ops.insert(producer);
  for (Operation &op : block) {
    if (isMadeOfNothing(&op) || (isElementwise(&op) && llvm::all_of(op.getOperands(), [&](Value operand) {
                                   return fixed.contains(operand.getDefiningOp());
                                 })))
      fixed.insert(&op);
  }
}

bool Split::close() {
  for (size_t before = 0; before != ops.size();) {
    before = ops.size();
    if (!markAll())
      return false;
    addNeighbours();
    addBetween();
  }
  return llvm::all_of(ops,
                      [&](Operation *op) { return isMarked(op) && !usesSumOfParts(op) && crossesWell(op); });
}

SmallVector<Operation *> Split::getOps() const {
  SmallVector<Operation *> order(ops.begin(), ops.end());
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return order;
}

RankedTensorType Split::getPartType(Value value, int64_t parts) const {
  RankedTensorType type = typeOf(value);
  int64_t first = dims.lookup(value), count = static_cast<int64_t>(rows.size()), size = 1;
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t &dim : MutableArrayRef<int64_t>(shape).slice(first, count)) {
    size *= dim;
    dim = 1;
  }
  shape[first + count - 1] = size / parts;
  return type.clone(shape);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// The factor that dimension `row` of the rows is in the op's marked values; -1 if they differ.
std::optional<int64_t> Split::findFactor(Operation *op, RuleAttr rule, int64_t row) const {
  std::optional<int64_t> factor;
  auto meet = [&](int64_t found) { factor = factor.value_or(found) == found ? found : -1; };
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (auto dim = dims.find(operand); dim != dims.end())
      meet(rule.getOperandFactor(number, dim->second + row));
  for (auto [number, result] : llvm::enumerate(op->getResults()))
    if (auto dim = dims.find(result); dim != dims.end())
      meet(rule.getResultFactor(number, dim->second + row));
  return factor;
}

/// Goes from value to value until nothing new is known.
bool Split::markAll() {
  for (size_t before = 0; before != dims.size();) {
    before = dims.size();
    for (size_t number = 0; number < ops.size(); ++number)
      if (isMarked(ops[number]) && !mark(ops[number]))
        return false;
  }
  return true;
}

bool Split::isMarked(Operation *op) const {
  auto isKnown = [&](Value value) { return dims.contains(value); };
  return llvm::any_of(op->getOperands(), isKnown) || llvm::any_of(op->getResults(), isKnown);
}

/// Writes the dimensions of the op's other values.
bool Split::mark(Operation *op) {
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return markAllReduce(reduce);
  // Their elements are numbered or compared by place, which parts would begin again.
  OpClass opClass = getOpClass(op);
  if (opClass == OpClass::Placed || opClass == OpClass::Library || opClass == OpClass::Index)
    return false;
  auto rules = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rules)
    return false;
  RuleAttr rule = rules.getShardingRule();
  SmallVector<int64_t> factors;
  for (int64_t row = 0, count = static_cast<int64_t>(rows.size()); row < count; ++row) {
    std::optional<int64_t> factor = findFactor(op, rule, row);
    if (!factor || *factor < 0 || !rule.maySplit(*factor) ||
        rule.getKinds()[*factor] == FactorKind::Permutation)
      return false;
    factors.push_back(*factor);
  }
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!placeRows(operand, factors,
                   [&, number = index](int64_t dim) { return rule.getOperandFactor(number, dim); }))
      return false;
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    if (!placeRows(result, factors,
                   [&, number = index](int64_t dim) { return rule.getResultFactor(number, dim); }))
      return false;
  return true;
}

/// Finds the dimensions of a value that are these factors; false if it has some, but not all of them, in this
/// order and one behind the other.
bool Split::placeRows(Value value, ArrayRef<int64_t> factors,
                      llvm::function_ref<int64_t(int64_t)> getFactor) {
  RankedTensorType type = typeOf(value);
  int64_t count = static_cast<int64_t>(factors.size());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!llvm::is_contained(factors, getFactor(dim)))
      continue;
    if (dim + count > type.getRank())
      return false;
    for (int64_t row = 0; row < count; ++row)
      // One dimension may be the major part of a larger one; several become one.
      if (getFactor(dim + row) != factors[row] || (count > 1 && type.getDimSize(dim + row) != rows[row]))
        return false;
    if (!setDim(value, dim))
      return false;
    dim += count - 1;
  }
  return true;
}

bool Split::markAllReduce(AllReduceOp op) {
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

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool Split::isLarge(Value value) const { return rank::getBytes(value.getType()) > limit; }

/// What makes and uses the large values that are split; and what makes others of nothing but constants and
/// positions (masks): no part of it has to exist before.
void Split::addNeighbours() {
  for (auto &[value, dim] : SmallVector<std::pair<Value, int64_t>>(dims.begin(), dims.end())) {
    Operation *producer = value.getDefiningOp();
    // Constants and positions take no memory.
    if (producer && producer->getNumOperands() > 0 &&
        (isLarge(value) || (fixed.contains(producer) && !isMadeInside(value))))
      ops.insert(producer);
    if (!isLarge(value))
      continue;
    for (Operation *user : value.getUsers())
      ops.insert(user);
  }
}

/// What depends on an op of the split and is needed by another.
void Split::addBetween() {
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
bool Split::usesSumOfParts(Operation *op) const {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return true;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return contains(operand.getDefiningOp()) && !isCut(operand); });
}

//===----------------------------------------------------------------------===//
// Borders
//===----------------------------------------------------------------------===//

bool Split::isMadeInside(Value operand) const {
  Operation *op = operand.getDefiningOp();
  if (!op || contains(op) || !isMadeOfNothing(op))
    return false;
  // Positions along the rows would begin again in every part.
  if (auto iota = dyn_cast<IotaOp>(op); iota && isCut(operand)) {
    int64_t dim = static_cast<int64_t>(iota.getDim()) - dims.lookup(operand);
    return dim < 0 || dim >= static_cast<int64_t>(rows.size());
  }
  return true;
}

bool Split::isUsedOutside(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) { return !contains(user); });
}

/// What goes in or out of the parts exists whole, small, and rows behind rows.
bool Split::crossesWell(Operation *op) const {
  auto isFit = [&](Value value) { return !isCut(value) || followsInMemory(value); };
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) {
                        Operation *producer = operand.getDefiningOp();
                        if (contains(producer) || isMadeInside(operand))
                          return true;
                        bool wouldExist =
                            isCut(operand) && isLarge(operand) && isa_and_nonnull<IotaOp>(producer);
                        return isFit(operand) && !wouldExist;
                      }) &&
         llvm::all_of(op->getResults(),
                      [&](Value result) { return !isUsedOutside(result) || isFit(result); });
}

bool Split::followsInMemory(Value value) const {
  return llvm::all_of(typeOf(value).getShape().take_front(dims.lookup(value)),
                      [](int64_t size) { return size == 1; });
}
