//===- ElementBuilder.cpp - elements of ops, one at a time ----------------------------------------------===//
#include "par/Interfaces/ElementBuilder.h"
#include "par/Dialect/Par/IR/Par.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ElementArithmetic::constantIndex(int64_t value) { return create<arith::ConstantIndexOp>(value); }

Value ElementArithmetic::constant(Type type, double value) {
  TypedAttr attribute = isa<FloatType>(type)
                            ? TypedAttr(builder.getFloatAttr(type, value))
                            : TypedAttr(builder.getIntegerAttr(type, static_cast<int64_t>(value)));
  return create<arith::ConstantOp>(attribute);
}

Value ElementArithmetic::addIndex(Value a, int64_t b) {
  return b == 0 ? a : create<arith::AddIOp>(a, constantIndex(b));
}

Value ElementArithmetic::neutral(ReduceKind kind, Type type) {
  double infinity = std::numeric_limits<double>::infinity();
  if (kind == ReduceKind::Sum)
    return constant(type, 0);
  if (isa<FloatType>(type))
    return constant(type, kind == ReduceKind::Max ? -infinity : infinity);
  unsigned width = type.getIntOrFloatBitWidth();
  APInt extreme = kind == ReduceKind::Max ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return create<arith::ConstantOp>(builder.getIntegerAttr(type, extreme));
}

Value ElementArithmetic::combine(ReduceKind kind, Value a, Value b) {
  bool floating = isa<FloatType>(a.getType());
  // Sums may be reordered, so that they become vectors.
  auto flags = arith::FastMathFlagsAttr::get(builder.getContext(), arith::FastMathFlags::reassoc);
  if (kind == ReduceKind::Sum) {
    if (floating)
      return create<arith::AddFOp>(a, b, flags);
    return create<arith::AddIOp>(a, b);
  }
  // maxnum semantics vectorises; NaN in the data shows up in the sums that follow.
  auto ordered = arith::FastMathFlagsAttr::get(builder.getContext(),
                                               arith::FastMathFlags::reassoc | arith::FastMathFlags::nsz);
  if (kind == ReduceKind::Max)
    return floating ? create<arith::MaximumFOp>(a, b, ordered) : create<arith::MaxSIOp>(a, b);
  return floating ? create<arith::MinimumFOp>(a, b, ordered) : create<arith::MinSIOp>(a, b);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

Value ElementArithmetic::drawPhilox(ArrayRef<Value> counter, ArrayRef<Value> key) {
  Type i32 = builder.getI32Type();
  auto exclusiveOr = [&](Value a, Value b) { return create<arith::XOrIOp>(a, b); };
  auto add = [&](Value a, Value b) { return create<arith::AddIOp>(a, b); };
  Value c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    auto product0 = builder.create<arith::MulUIExtendedOp>(loc, constant(i32, 0xD2511F53), c0);
    auto product1 = builder.create<arith::MulUIExtendedOp>(loc, constant(i32, 0xCD9E8D57), c2);
    Value next0 = exclusiveOr(exclusiveOr(product1.getHigh(), c1), k0);
    Value next2 = exclusiveOr(exclusiveOr(product0.getHigh(), c3), k1);
    c1 = product1.getLow();
    c3 = product0.getLow();
    c0 = next0;
    c2 = next2;
    k0 = add(k0, constant(i32, 0x9E3779B9));
    k1 = add(k1, constant(i32, 0xBB67AE85));
  }
  return c0;
}

Value ElementArithmetic::isKept(Value drawn, double p) {
  auto threshold = static_cast<uint32_t>(std::min(std::ceil(p * 4294967296.0), 4294967295.0));
  return compare(arith::CmpIPredicate::uge, drawn, constant(builder.getI32Type(), threshold));
}

//===----------------------------------------------------------------------===//
// Narrow floats
//===----------------------------------------------------------------------===//

Type ElementArithmetic::getHeldType(Value value) {
  Type type = getElementTypeOrSelf(value);
  return isNarrow(type) ? Float32Type::get(value.getContext()) : type;
}

Value ElementArithmetic::round(Value value, Type type) {
  Type f32 = builder.getF32Type();
  if (!isNarrow(type)) {
    if (value.getType() == type || !isa<FloatType>(type))
      return value;
    bool extends = value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth();
    return extends ? create<arith::ExtFOp>(type, value) : create<arith::TruncFOp>(type, value);
  }
  if (value.getType() != f32)
    value = create<arith::TruncFOp>(f32, value);
  return create<arith::ExtFOp>(f32, create<arith::TruncFOp>(type, value));
}

//===----------------------------------------------------------------------===//
// Elements of operands
//===----------------------------------------------------------------------===//

FailureOr<Value> ElementBuilder::evaluateInside(Value isInside, Value value, ArrayRef<Value> index) {
  FailureOr<Value> element = evaluate(value, index);
  if (failed(element) || !isInside)
    return element;
  return select(isInside, *element, constant(element->getType(), 0));
}

FailureOr<TableRow> ElementBuilder::findRow(Value ids, Value offset, ArrayRef<Value> index, int64_t rows) {
  FailureOr<Value> id = evaluate(ids, index), first = offset ? evaluate(offset, {}) : Value();
  if (failed(id) || failed(first))
    return failure();
  if (*first && first->getType() != id->getType())
    first = create<arith::ExtSIOp>(id->getType(), *first);
  Value row = toIndex(*first ? create<arith::SubIOp>(*id, *first) : *id);
  return TableRow{row, compare(arith::CmpIPredicate::ult, row, constantIndex(rows))};
}

FailureOr<Value> par::emitElementwise(Operation *op, ElementBuilder &b, ArrayRef<Value> index, bool isExact) {
  if (!isElementwise(op) || op->getNumResults() != 1)
    return op->emitOpError("kernel generation: no code for this op");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> element = b.evaluate(operand, getShape(operand).empty() ? ArrayRef<Value>() : index);
    if (failed(element))
      return failure();
    operands.push_back(*element);
  }
  Value result = op->getResult(0);
  OperationState state(b.loc, op->getName(), operands, {ElementArithmetic::getHeldType(result)},
                       op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Value computed = b.builder.create(state)->getResult(0);
  return isExact ? computed : b.round(computed, getElementTypeOrSelf(result));
}
