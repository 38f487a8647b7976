//===- ReduceExpandOps.cpp - reductions, broadcasts and positions ---------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/PickedTerm.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::par;

/// Ascending and within `rank`.
static LogicalResult verifyDims(Operation *op, StringRef code, ArrayRef<int64_t> dims, int64_t rank) {
  for (auto [position, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= rank || (position && dim <= dims[position - 1]))
      return op->emitOpError(code) << ": dims [" << dims << "] must be ascending and less than the rank "
                                   << rank;
  return success();
}

/// Dimensions of `shape` that are not in `dims`.
static SmallVector<int64_t> dropDims(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> rest;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      rest.push_back(size);
  return rest;
}

/// Steps, per dimension of the larger tensor, through the smaller one that lacks `dims`.
static SmallVector<int64_t> stepsWithout(ArrayRef<int64_t> small, int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> strides = rowMajorStrides(small), steps(rank, 0);
  for (int64_t dim = 0, next = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      steps[dim] = strides[next++];
  return steps;
}

static int64_t dot(ArrayRef<int64_t> index, ArrayRef<int64_t> steps) {
  int64_t offset = 0;
  for (auto [i, step] : llvm::zip(index, steps))
    offset += i * step;
  return offset;
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  if (failed(verifyDims(*this, "reduce_c1", getDims(), getInput().getType().getRank())))
    return failure();
  auto from = dyn_cast<FloatType>(getInput().getType().getElementType()),
       to = dyn_cast<FloatType>(getType().getElementType());
  bool widens = getKind() == ReduceKind::Sum && from && to && from.getWidth() < to.getWidth();
  return verifyAll(
      {widens ? success()
              : verifyElementType(*this, "reduce_c2", "result", getResult(), "operand", getInput()),
       verifyShape(*this, "reduce_c2", "result", getResult(),
                   dropDims(getInput().getType().getShape(), getDims()), "the remaining dimensions")});
}

RuleAttr ReduceOp::getShardingRule() {
  RuleBuilder rule(*this);
  FactorKind reduced = getKind() == ReduceKind::Sum ? FactorKind::Reduction : FactorKind::Permutation;
  int64_t next = 0;
  for (auto [dim, size] : llvm::enumerate(getInput().getType().getShape())) {
    bool drop = llvm::is_contained(getDims(), static_cast<int64_t>(dim));
    int64_t factor = rule.addFactor(size, drop ? reduced : FactorKind::PassThrough);
    rule.mapOperand(0, dim, factor);
    if (!drop)
      rule.mapResult(0, next++, factor);
  }
  if (getKind() == ReduceKind::Sum)
    rule.addLinear({0});
  return rule.build();
}

/// A maximum or minimum over split dimensions is completed by an all-reduce.
FailureOr<SmallVector<Value>> ReduceOp::localize(Localizer &localizer) {
  FailureOr<SmallVector<Value>> local = localizer.clone();
  if (failed(local) || getKind() == ReduceKind::Sum)
    return local;
  for (int64_t factor = 0; factor < localizer.rule.getNumFactors(); ++factor)
    if (localizer.rule.getKinds()[factor] == FactorKind::Permutation && localizer.isSharded(factor))
      (*local)[0] = localizer.allReduce(getKind(), (*local)[0], factor);
  return local;
}

/// What a reduction begins with: 0, or the least (maximum) or greatest (minimum) number of the type. The
/// greatest i64 is no f64: the one below it stands for it.
static double getNeutral(ReduceKind kind, Type element) {
  if (kind == ReduceKind::Sum)
    return 0.0;
  double least = -std::numeric_limits<double>::infinity(), greatest = -least;
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    least = width == 1 ? 0.0 : static_cast<double>(llvm::minIntN(width));
    greatest = width == 1    ? 1.0
               : width == 64 ? std::nextafter(-least, 0.0)
                             : static_cast<double>(llvm::maxIntN(width));
  }
  return kind == ReduceKind::Max ? least : greatest;
}

std::optional<double> ReduceOp::getPaddingNeutral(unsigned) {
  return getNeutral(getKind(), getType().getElementType());
}

double ReduceOp::getFlops() { return static_cast<double>(getInput().getType().getNumElements()); }

LogicalResult ReduceOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0] || !needed[0])
    return success();
  if (getKind() == ReduceKind::Sum) {
    Value cotangent = convertFloat(builder, getLoc(), cotangents[0], getInput().getType().getElementType());
    operandCotangents[0] = builder.create<ExpandOp>(getLoc(), getInput().getType(), cotangent, getDims());
    return success();
  }
  // Ties share the cotangent evenly: Σ of the masks is the number of extremal elements.
  RankedTensorType type = getInput().getType(), reduced = getType();
  Value extremum = builder.create<ExpandOp>(getLoc(), type, getResult(), getDims());
  Value equal = builder.create<arith::CmpFOp>(getLoc(), arith::CmpFPredicate::OEQ, getInput(), extremum);
  Value mask = builder.create<arith::SelectOp>(getLoc(), equal, buildSplat(builder, getLoc(), type, 1.0),
                                               buildSplat(builder, getLoc(), type, 0.0));
  Value count = builder.create<ReduceOp>(getLoc(), reduced, ReduceKind::Sum, mask, getDims());
  Value share = builder.create<arith::DivFOp>(getLoc(), cotangents[0], count);
  Value shares = builder.create<ExpandOp>(getLoc(), type, share, getDims());
  operandCotangents[0] = builder.create<arith::MulFOp>(getLoc(), mask, shares);
  return success();
}

LogicalResult ReduceOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                  InterpreterContext &) {
  ReduceKind kind = getKind();
  std::vector<double> &out = results[0].values;
  std::fill(out.begin(), out.end(), getNeutral(kind, getType().getElementType()));
  SmallVector<int64_t> steps = stepsWithout(results[0].shape(), operands[0].rank(), getDims());
  int64_t position = 0;
  forEachIndex(operands[0].shape(), [&](ArrayRef<int64_t> index) {
    double value = operands[0].values[position++], &into = out[dot(index, steps)];
    into = kind == ReduceKind::Sum   ? into + value
           : kind == ReduceKind::Max ? std::max(into, value)
                                     : std::min(into, value);
  });
  return success();
}

bool ReduceOp::isOverLeading() {
  int64_t rank = getInput().getType().getRank(), reduced = getDims().size();
  return getKind() == ReduceKind::Sum && reduced > 0 && reduced < rank && getDims().front() < rank - reduced;
}

OpClass ReduceOp::getOpClass() { return OpClass::Reduction; }

FailureOr<Value> ReduceOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  if (std::optional<PickedTerm> picked = matchPickedTerm(*this))
    return emitPickedTerm(*this, *picked, b, index);
  ArrayRef<int64_t> shape = getShape(getInput());
  SmallVector<int64_t> sizes;
  for (int64_t dim : getDims())
    sizes.push_back(shape[dim]);
  Type type = ElementBuilder::getHeldType(getResult());
  auto term = [&](ArrayRef<Value> inner) -> FailureOr<Value> {
    Index source;
    size_t kept = 0, reduced = 0;
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      source.push_back(llvm::is_contained(getDims(), dim) ? inner[reduced++] : index[kept++]);
    FailureOr<Value> value = b.evaluate(getInput(), source);
    return failed(value) ? value : b.round(*value, type);
  };
  FailureOr<Value> result = b.reduce(sizes, type, getKind(), term);
  return failed(result) ? result : b.round(*result, getElementTypeOrSelf(getResult()));
}

bool ReduceOp::mayWidenResults() { return getKind() == ReduceKind::Sum; }

bool ReduceOp::addsUpInMemory(unsigned) { return isOverLeading(); }

//===----------------------------------------------------------------------===//
// ExpandOp
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::verify() {
  if (failed(verifyDims(*this, "expand_c1", getDims(), getType().getRank())))
    return failure();
  return verifyAll(
      {verifyElementType(*this, "expand_c2", "result", getResult(), "operand", getInput()),
       verifyShape(*this, "expand_c2", "operand", getInput(), dropDims(getType().getShape(), getDims()),
                   "the result's dimensions without dims")});
}

RuleAttr ExpandOp::getShardingRule() {
  RuleBuilder rule(*this);
  int64_t next = 0;
  for (auto [dim, size] : llvm::enumerate(getType().getShape())) {
    int64_t factor = rule.addFactor(size);
    rule.mapResult(0, dim, factor);
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      rule.mapOperand(0, next++, factor);
  }
  return rule.addLinear({0}).build();
}

LogicalResult ExpandOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] =
        builder.create<ReduceOp>(getLoc(), getInput().getType(), ReduceKind::Sum, cotangents[0], getDims());
  return success();
}

LogicalResult ExpandOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                  InterpreterContext &) {
  SmallVector<int64_t> steps = stepsWithout(operands[0].shape(), results[0].rank(), getDims());
  int64_t position = 0;
  forEachIndex(results[0].shape(), [&](ArrayRef<int64_t> index) {
    results[0].values[position++] = operands[0].values[dot(index, steps)];
  });
  return success();
}

OpClass ExpandOp::getOpClass() { return OpClass::Repeats; }

FailureOr<Value> ExpandOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  return b.evaluate(getInput(), dropDims<Value>(index, getDims()));
}

//===----------------------------------------------------------------------===//
// IotaOp
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  int64_t rank = getType().getRank();
  if (static_cast<int64_t>(getDim()) >= rank || static_cast<int64_t>(getDim()) < 0)
    return emitOpError("iota_c1: dim ") << getDim() << " must be less than the rank " << rank;
  return success();
}

RuleAttr IotaOp::getShardingRule() { return RuleBuilder::pointwise(*this); }

/// Positions along a split dimension begin at the rank's offset.
FailureOr<SmallVector<Value>> IotaOp::localize(Localizer &localizer) {
  FailureOr<SmallVector<Value>> local = localizer.clone();
  int64_t dim = getDim();
  if (failed(local) || !localizer.isSharded(dim))
    return local;
  OpBuilder &builder = localizer.builder;
  auto type = cast<RankedTensorType>((*local)[0].getType());
  Value offset = localizer.offset(dim, type.getDimSize(dim));
  if (type.getElementType() != builder.getI32Type())
    offset = builder.create<arith::ExtSIOp>(getLoc(), type.clone(ArrayRef<int64_t>{}), offset);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  Value offsets = builder.create<ExpandOp>(getLoc(), type, offset, dims);
  return SmallVector<Value>{builder.create<arith::AddIOp>(getLoc(), (*local)[0], offsets)};
}

LogicalResult IotaOp::differentiate(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) {
  return success();
}

LogicalResult IotaOp::interpret(ArrayRef<Tensor>, MutableArrayRef<Tensor> results, InterpreterContext &) {
  int64_t position = 0;
  forEachIndex(results[0].shape(), [&](ArrayRef<int64_t> index) {
    results[0].values[position++] = static_cast<double>(index[getDim()]);
  });
  return success();
}

OpClass IotaOp::getOpClass() { return OpClass::Index; }

FailureOr<Value> IotaOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  return b.create<arith::IndexCastOp>(getElementTypeOrSelf(getResult()), index[getDim()]);
}
