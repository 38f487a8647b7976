//===- SliceOps.cpp - boxes of tensors: slice, pad, concat ----------------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"

using namespace mlir;
using namespace mlir::par;

/// `inner` at `offsets` lies within `outer`.
static LogicalResult verifyBox(Operation *op, StringRef code, ArrayRef<int64_t> offsets,
                               ArrayRef<int64_t> inner, ArrayRef<int64_t> outer) {
  if (offsets.size() != outer.size() || inner.size() != outer.size())
    return op->emitOpError(code) << ": " << offsets.size() << " offsets, box of rank " << inner.size()
                                 << " within rank " << outer.size() << "; the three must be equal";
  LogicalResult verdict = success();
  for (auto [dim, offset] : llvm::enumerate(offsets))
    if (offset < 0 || offset > outer[dim] - inner[dim])
      verdict = op->emitOpError(code) << ": dimension " << dim << " from " << offset << " with size "
                                      << inner[dim] << " leaves the size " << outer[dim];
  return verdict;
}

/// Dimensions of equal size pass through, the others are cut and so not split.
static RuleAttr buildBoxRule(Operation *op) {
  RuleBuilder rule(op);
  auto from = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  auto to = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  for (unsigned dim = 0; dim < from.size(); ++dim) {
    if (from[dim] == to[dim]) {
      int64_t factor = rule.addFactor(from[dim]);
      rule.mapOperand(0, dim, factor).mapResult(0, dim, factor);
      continue;
    }
    rule.mapOperand(0, dim, rule.addFactor(from[dim], FactorKind::NeedReplication));
    rule.mapResult(0, dim, rule.addFactor(to[dim], FactorKind::NeedReplication));
  }
  return rule.addLinear({0}).build();
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  return verifyAll(
      {verifyBox(*this, "slice_c1", getOffsets(), getType().getShape(), getInput().getType().getShape()),
       verifyElementType(*this, "slice_c2", "result", getResult(), "operand", getInput())});
}

RuleAttr SliceOp::getShardingRule() { return buildBoxRule(*this); }

LogicalResult SliceOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                     SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] = builder.create<PadOp>(getLoc(), getInput().getType(), cotangents[0], getOffsets());
  return success();
}

LogicalResult SliceOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                 InterpreterContext &) {
  SmallVector<int64_t> origin(results[0].rank(), 0);
  copyBlock(operands[0], getOffsets(), results[0], origin, results[0].shape());
  return success();
}

OpClass SliceOp::getOpClass() { return OpClass::Slices; }

FailureOr<Value> SliceOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  Index source;
  for (auto [each, offset] : llvm::zip(index, getOffsets()))
    source.push_back(b.addIndex(each, offset));
  return b.evaluate(getInput(), source);
}

/// True if steps begin in the operand where whole accesses do.
static bool beginsWithStep(Value input, ArrayRef<int64_t> offsets, int64_t step) {
  return offsets.empty() || (offsets.back() % step == 0 && getShape(input).back() % step == 0);
}

bool SliceOp::keepsSteps(int64_t step) { return beginsWithStep(getInput(), getOffsets(), step); }

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  return verifyAll(
      {verifyBox(*this, "pad_c1", getOffsets(), getInput().getType().getShape(), getType().getShape()),
       verifyElementType(*this, "pad_c2", "result", getResult(), "operand", getInput())});
}

RuleAttr PadOp::getShardingRule() { return buildBoxRule(*this); }

LogicalResult PadOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] =
        builder.create<SliceOp>(getLoc(), getInput().getType(), cotangents[0], getOffsets());
  return success();
}

LogicalResult PadOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                               InterpreterContext &) {
  std::fill(results[0].values.begin(), results[0].values.end(), 0.0);
  SmallVector<int64_t> origin(results[0].rank(), 0);
  copyBlock(operands[0], origin, results[0], getOffsets(), operands[0].shape());
  return success();
}

OpClass PadOp::getOpClass() { return OpClass::Pads; }

/// Out of the operand the element is zero; its address is clamped, so that the load is always valid.
FailureOr<Value> PadOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  Value inside;
  Index source;
  for (auto [each, offset, size, whole] :
       llvm::zip(index, getOffsets(), getShape(getInput()), getShape(getResult()))) {
    if (size == whole) {
      source.push_back(each);
      continue;
    }
    Value shifted = b.addIndex(each, -offset);
    Value valid = b.compare(arith::CmpIPredicate::ult, shifted, b.constantIndex(size));
    source.push_back(b.select(valid, shifted, b.constantIndex(0)));
    inside = inside ? b.create<arith::AndIOp>(inside, valid) : valid;
  }
  return b.evaluateInside(inside, getInput(), source);
}

bool PadOp::keepsSteps(int64_t step) { return beginsWithStep(getInput(), getOffsets(), step); }

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("concat_c1: at least one operand is needed");
  RankedTensorType result = getType();
  int64_t total = 0, dim = getDim();
  if (dim < 0 || dim >= result.getRank())
    return emitOpError("concat_c2: dim ") << dim << " must be less than the rank " << result.getRank();
  LogicalResult verdict = success();
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    verdict = verifyAll(
        {verdict, verifyElementType(*this, "concat_c2", "result", getResult(), "an operand", input)});
    if (type.getRank() != result.getRank())
      return emitOpError("concat_c2: operand ") << type << " has another rank than the result " << result;
    for (int64_t each = 0; each < result.getRank(); ++each)
      if (each != dim && type.getDimSize(each) != result.getDimSize(each))
        verdict = emitOpError("concat_c2: operand ")
                  << type << " differs from the result " << result << " in dimension " << each;
    total += type.getDimSize(dim);
  }
  if (total != result.getDimSize(dim))
    return emitOpError("concat_c3: sizes along dimension ")
           << dim << " add up to " << total << ", the result has " << result.getDimSize(dim);
  return verdict;
}

RuleAttr ConcatOp::getShardingRule() {
  RuleBuilder rule(*this);
  SmallVector<int64_t> all;
  for (int64_t dim = 0, rank = getType().getRank(); dim < rank; ++dim) {
    bool whole = dim != static_cast<int64_t>(getDim());
    int64_t factor = rule.addFactor(getType().getDimSize(dim),
                                    whole ? FactorKind::PassThrough : FactorKind::NeedReplication);
    rule.mapResult(0, dim, factor);
    for (unsigned operand = 0; operand < getInputs().size(); ++operand)
      rule.mapOperand(
          operand, dim,
          whole ? factor
                : rule.addFactor(cast<RankedTensorType>(getInputs()[operand].getType()).getDimSize(dim),
                                 FactorKind::NeedReplication));
  }
  for (unsigned operand = 0; operand < getInputs().size(); ++operand)
    all.push_back(operand);
  return rule.addLinear(all).build();
}

LogicalResult ConcatOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0])
    return success();
  SmallVector<int64_t> offsets(getType().getRank(), 0);
  for (auto [number, input] : llvm::enumerate(getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (needed[number])
      operandCotangents[number] = builder.create<SliceOp>(getLoc(), type, cotangents[0], offsets);
    offsets[getDim()] += type.getDimSize(getDim());
  }
  return success();
}

LogicalResult ConcatOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                  InterpreterContext &) {
  SmallVector<int64_t> origin(results[0].rank(), 0), offsets(results[0].rank(), 0);
  for (const Tensor &operand : operands) {
    copyBlock(operand, origin, results[0], offsets, operand.shape());
    offsets[getDim()] += operand.shape()[getDim()];
  }
  return success();
}

OpClass ConcatOp::getOpClass() { return OpClass::Joins; }

FailureOr<Value> ConcatOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  int64_t dim = getDim(), offset = 0;
  Value result;
  for (Value input : getInputs()) {
    int64_t size = getShape(input)[dim];
    Value shifted = b.addIndex(index[dim], -offset);
    Value valid = b.compare(arith::CmpIPredicate::ult, shifted, b.constantIndex(size));
    Index source(index);
    source[dim] = b.select(valid, shifted, b.constantIndex(0));
    FailureOr<Value> element = b.evaluate(input, source);
    if (failed(element))
      return failure();
    result = result ? b.select(valid, *element, result) : *element;
    offset += size;
  }
  return result;
}
