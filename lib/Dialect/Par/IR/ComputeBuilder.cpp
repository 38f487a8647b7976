//===- ComputeBuilder.cpp - writing composite ops with elementwise maths --------------------------------===//
#include "ComputeBuilder.h"

using namespace mlir;
using namespace mlir::par;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

SmallVector<int64_t> par::countUp(int64_t count) { return llvm::to_vector(llvm::seq<int64_t>(0, count)); }

ComputeBuilder::ComputeBuilder(OpBuilder &builder, Operation *op) : builder(builder), loc(op->getLoc()) {
  auto isWide = [](Type type) { return cast<RankedTensorType>(type).getElementType().isF64(); };
  bool wide = llvm::any_of(op->getOperandTypes(), isWide) || llvm::any_of(op->getResultTypes(), isWide);
  compute = wide ? builder.getF64Type() : builder.getF32Type();
}

Value ComputeBuilder::load(Value value) {
  if (isa<IntegerType>(typeOf(value).getElementType()))
    return builder.create<arith::SIToFPOp>(loc, typeOf(value).clone(compute), value);
  return convertFloat(builder, loc, value, compute);
}

Value ComputeBuilder::store(Value value, Value target) {
  return convertFloat(builder, loc, value, typeOf(target).getElementType());
}

Value ComputeBuilder::splatLike(Value value, double number) {
  return buildSplat(builder, loc, typeOf(value), number);
}

Value ComputeBuilder::reduce(ReduceKind kind, Value value, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return value;
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(typeOf(value).getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
  return builder.create<ReduceOp>(loc, RankedTensorType::get(shape, typeOf(value).getElementType()), kind,
                                  value, dims);
}

Value ComputeBuilder::sumLast(Value value) {
  return reduce(ReduceKind::Sum, value, {typeOf(value).getRank() - 1});
}

Value ComputeBuilder::meanLast(Value value) {
  return scale(sumLast(value), 1.0 / static_cast<double>(typeOf(value).getShape().back()));
}

Value ComputeBuilder::expand(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return value;
  return builder.create<ExpandOp>(loc, RankedTensorType::get(shape, typeOf(value).getElementType()), value,
                                  dims);
}

Value ComputeBuilder::expandLast(Value value, Value like) {
  return expand(value, typeOf(like).getShape(), {typeOf(like).getRank() - 1});
}

Value ComputeBuilder::expandLeading(Value value, Value like) {
  return expand(value, typeOf(like).getShape(), countUp(typeOf(like).getRank() - typeOf(value).getRank()));
}
