//===- Scalars.cpp - single elements in registers and in memory ----------------------------------------===//
#include "par/Conversion/Scalars.h"

using namespace mlir;
using namespace mlir::par;

MemRefType Scalars::getMemoryType(RankedTensorType tensor) {
  Type element = tensor.getElementType();
  return MemRefType::get(tensor.getShape(),
                         element.isBF16() ? IntegerType::get(tensor.getContext(), 16) : element);
}

Value Scalars::load(Type type, Value memory, ArrayRef<Value> index) {
  Value element = create<memref::LoadOp>(memory, index);
  if (type.isBF16()) {
    Value bits = create<arith::ExtUIOp>(builder.getI32Type(), element);
    bits = create<arith::ShLIOp>(bits, constant(builder.getI32Type(), 16));
    return create<arith::BitcastOp>(builder.getF32Type(), bits);
  }
  if (isNarrow(element.getType()))
    return create<arith::ExtFOp>(builder.getF32Type(), element);
  return element;
}

void Scalars::store(Value element, Type type, Value memory, ArrayRef<Value> index) {
  if (type.isBF16()) { // held rounded: the lower half is zero
    Value bits = create<arith::BitcastOp>(builder.getI32Type(), element);
    bits = create<arith::ShRUIOp>(bits, constant(builder.getI32Type(), 16));
    element = create<arith::TruncIOp>(builder.getIntegerType(16), bits);
  } else if (isNarrow(type)) {
    element = create<arith::TruncFOp>(type, element);
  }
  builder.create<memref::StoreOp>(loc, element, memory, index);
}
