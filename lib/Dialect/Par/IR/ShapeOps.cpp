//===- ShapeOps.cpp - reshape and transpose -------------------------------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/ShapeOps.cpp.inc"

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  LogicalResult verdict =
      verifyElementType(*this, "reshape_c1", "result", getResult(), "operand", getInput());
  if (getInput().getType().getNumElements() != getType().getNumElements())
    verdict = emitOpError("reshape_c1: operand has ")
              << getInput().getType().getNumElements() << " elements, result " << getType().getNumElements();
  return verdict;
}

namespace {
/// Walks the dimensions of one side of a reshape from the outermost one; `rest` is what is left of dimension
/// `dim`.
struct DimensionWalk {
  ArrayRef<int64_t> shape;
  size_t dim = 0;
  int64_t rest = 1;

  explicit DimensionWalk(ArrayRef<int64_t> shape) : shape(shape), rest(shape.empty() ? 1 : shape[0]) {
    skip();
  }
  bool atEnd() const { return dim == shape.size(); }
  /// True where a whole dimension begins.
  bool atBoundary() const { return atEnd() || rest == shape[dim]; }
  void take(int64_t size) {
    rest /= size;
    skip();
  }

private:
  /// To the next dimension of which something is left; those of size 1 have no factor.
  void skip() {
    while (!atEnd() && rest == 1)
      if (++dim < shape.size())
        rest = shape[dim];
  }
};
} // namespace

/// What is left of both sides up to the next place where dimensions of both begin: factors of each side
/// alone, never split.
static void addUnsplit(RuleBuilder &rule, DimensionWalk &from, DimensionWalk &to) {
  int64_t taken = 1, given = 1;
  auto takeFrom = [&] {
    taken *= from.rest;
    rule.mapOperand(0, from.dim, rule.addFactor(from.rest, FactorKind::NeedReplication));
    from.take(from.rest);
  };
  auto takeTo = [&] {
    given *= to.rest;
    rule.mapResult(0, to.dim, rule.addFactor(to.rest, FactorKind::NeedReplication));
    to.take(to.rest);
  };
  do {
    if (taken <= given)
      takeFrom();
    else
      takeTo();
  } while (taken != given);
}

/// Walks both shapes from the outermost dimension and cuts off what both have in common, the greatest common
/// divisor of what is left of the two dimensions: [b·s, e] ↔ [b, s, e] gives b, s, e. Where nothing is common
/// the dimensions up to the next common boundary are not split.
RuleAttr ReshapeOp::getShardingRule() {
  RuleBuilder rule(*this);
  if (getType().getNumElements() == 0) {
    for (auto [dim, size] : llvm::enumerate(getInput().getType().getShape()))
      rule.mapOperand(0, dim, rule.addFactor(size, FactorKind::NeedReplication));
    for (auto [dim, size] : llvm::enumerate(getType().getShape()))
      rule.mapResult(0, dim, rule.addFactor(size, FactorKind::NeedReplication));
    return rule.addLinear({0}).build();
  }
  DimensionWalk from(getInput().getType().getShape()), to(getType().getShape());
  while (!from.atEnd() && !to.atEnd()) {
    int64_t common = std::gcd(from.rest, to.rest);
    // A common divisor that ends neither dimension may be split only if it is the major part of both: of 6
    // and 4 the 2.
    bool ends = common == from.rest || common == to.rest;
    if (common == 1 || !(ends || (from.atBoundary() && to.atBoundary()))) {
      addUnsplit(rule, from, to);
      continue;
    }
    int64_t factor = rule.addFactor(common);
    rule.mapOperand(0, from.dim, factor).mapResult(0, to.dim, factor);
    from.take(common);
    to.take(common);
  }
  return rule.addLinear({0}).build();
}

LogicalResult ReshapeOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] = builder.create<ReshapeOp>(getLoc(), getInput().getType(), cotangents[0]);
  return success();
}

LogicalResult ReshapeOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                   InterpreterContext &) {
  results[0].values = operands[0].values;
  return success();
}

OpClass ReshapeOp::getOpClass() { return OpClass::View; }

FailureOr<Value> ReshapeOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  ArrayRef<int64_t> to = getShape(getResult()), from = getShape(getInput());
  Value linear = b.constantIndex(0);
  for (auto [each, stride] : llvm::zip(index, rowMajorStrides(to)))
    linear = b.create<arith::AddIOp>(linear, b.create<arith::MulIOp>(each, b.constantIndex(stride)));
  Index source;
  for (auto [size, stride] : llvm::zip(from, rowMajorStrides(from))) {
    Value quotient = b.create<arith::DivUIOp>(linear, b.constantIndex(stride));
    source.push_back(b.create<arith::RemUIOp>(quotient, b.constantIndex(size)));
  }
  return b.evaluate(getInput(), source);
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  int64_t rank = getInput().getType().getRank();
  SmallVector<bool> seen(rank, false);
  SmallVector<int64_t> shape;
  for (int64_t dim : getPermutation()) {
    if (dim < 0 || dim >= rank || seen[dim])
      return emitOpError("transpose_c1: [")
             << getPermutation() << "] is no permutation of " << rank << " dimensions";
    seen[dim] = true;
    shape.push_back(getInput().getType().getDimSize(dim));
  }
  if (static_cast<int64_t>(shape.size()) != rank)
    return emitOpError("transpose_c1: [")
           << getPermutation() << "] is no permutation of " << rank << " dimensions";
  return verifyAll(
      {verifyElementType(*this, "transpose_c2", "result", getResult(), "operand", getInput()),
       verifyShape(*this, "transpose_c2", "result", getResult(), shape, "the operand's shape permuted")});
}

RuleAttr TransposeOp::getShardingRule() {
  RuleBuilder rule(*this);
  for (auto [dim, source] : llvm::enumerate(getPermutation())) {
    int64_t factor = rule.addFactor(getType().getDimSize(dim));
    rule.mapOperand(0, source, factor).mapResult(0, dim, factor);
  }
  return rule.addLinear({0}).build();
}

LogicalResult TransposeOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0] || !needed[0])
    return success();
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [dim, source] : llvm::enumerate(getPermutation()))
    inverse[source] = dim;
  operandCotangents[0] = builder.create<TransposeOp>(getLoc(), getInput().getType(), cotangents[0], inverse);
  return success();
}

LogicalResult TransposeOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                     InterpreterContext &) {
  SmallVector<int64_t> strides = rowMajorStrides(operands[0].shape());
  int64_t position = 0;
  forEachIndex(results[0].shape(), [&](ArrayRef<int64_t> index) {
    int64_t source = 0;
    for (auto [dim, from] : llvm::enumerate(getPermutation()))
      source += index[dim] * strides[from];
    results[0].values[position++] = operands[0].values[source];
  });
  return success();
}

OpClass TransposeOp::getOpClass() { return OpClass::Permutes; }

FailureOr<Value> TransposeOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  return b.evaluate(getInput(), turnBack<Value>(index, getPermutation()));
}

/// Rows stay rows.
bool TransposeOp::keepsSteps(int64_t) {
  return getPermutation().empty() ||
         getPermutation().back() == static_cast<int64_t>(getPermutation().size()) - 1;
}
