//===- PickedTerm.cpp - sums of which one term counts ---------------------------------------------------===//
#include "par/Dialect/Par/IR/PickedTerm.h"
#include "mlir/IR/Matchers.h"
#include "par/Interfaces/ElementBuilder.h"

using namespace mlir;
using namespace mlir::par;

/// Alike for all indices of `dim`.
static bool isConstantAlong(Value value, int64_t dim) {
  auto expand = value.getDefiningOp<ExpandOp>();
  return expand && llvm::is_contained(expand.getDims(), dim);
}

static bool isIotaAlong(Value value, int64_t dim) {
  auto iota = value.getDefiningOp<IotaOp>();
  return iota && iota.getDim() == static_cast<uint64_t>(dim);
}

/// `numbers` as an index along `dim` and what is added to it.
static bool matchNumbers(Value numbers, int64_t dim, Value &offset) {
  if (isIotaAlong(numbers, dim))
    return true;
  auto add = numbers.getDefiningOp<arith::AddIOp>();
  if (!add || !isIotaAlong(add.getLhs(), dim) || !isConstantAlong(add.getRhs(), dim))
    return false;
  offset = add.getRhs();
  return true;
}

/// A comparison that is part of `condition`, which holds only where all its parts do.
static std::optional<PickedTerm> matchCondition(Value condition, int64_t dim) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    std::optional<PickedTerm> left = matchCondition(both.getLhs(), dim);
    return left ? left : matchCondition(both.getRhs(), dim);
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !isConstantAlong(compare.getRhs(), dim))
    return std::nullopt;
  PickedTerm picked{compare.getRhs(), nullptr};
  return matchNumbers(compare.getLhs(), dim, picked.offset) ? std::optional(picked) : std::nullopt;
}

std::optional<PickedTerm> par::matchPickedTerm(ReduceOp op) {
  auto select = op.getInput().getDefiningOp<arith::SelectOp>();
  if (op.getKind() != ReduceKind::Sum || op.getDims().size() != 1 || !select ||
      !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
    return std::nullopt;
  return matchCondition(select.getCondition(), op.getDims()[0]);
}

/// The term at wanted − offset. Where that is no index any other term will do: it is 0.
FailureOr<Value> par::emitPickedTerm(ReduceOp op, const PickedTerm &picked, ElementBuilder &b,
                                     ArrayRef<Value> index) {
  int64_t dim = op.getDims()[0];
  Index at(index);
  at.insert(at.begin() + dim, b.constantIndex(0));
  FailureOr<Value> number = b.evaluate(picked.wanted, at);
  if (failed(number))
    return failure();
  if (picked.offset) {
    FailureOr<Value> offset = b.evaluate(picked.offset, at);
    if (failed(offset))
      return failure();
    number = b.create<arith::SubIOp>(*number, *offset);
  }
  Value position = b.toIndex(*number);
  Value inside =
      b.compare(arith::CmpIPredicate::ult, position, b.constantIndex(getShape(op.getInput())[dim]));
  at[dim] = b.select(inside, position, b.constantIndex(0));
  FailureOr<Value> term = b.evaluate(op.getInput(), at);
  return failed(term) ? term : b.round(*term, getElementTypeOrSelf(op.getResult()));
}
