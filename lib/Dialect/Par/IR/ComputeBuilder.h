//===- ComputeBuilder.h - writing composite ops with elementwise maths ------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_COMPUTEBUILDER_H
#define PAR_DIALECT_PAR_IR_COMPUTEBUILDER_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Builds the decomposition of one op. It computes in f32, or in f64 where an operand or result is f64: statistics of
/// bf16 and f16 values would lose their meaning in the type of the values. `load` and `store` convert.
class ComputeBuilder {
public:
  ComputeBuilder(OpBuilder &builder, Operation *op);

  FloatType getType() const { return compute; }
  /// `value` (float or integer) in the compute type.
  Value load(Value value);
  /// `value` in the element type of `target`, a result of the op.
  Value store(Value value, Value target);

  Value add(Value a, Value b) { return builder.create<arith::AddFOp>(loc, a, b); }
  Value sub(Value a, Value b) { return builder.create<arith::SubFOp>(loc, a, b); }
  Value mul(Value a, Value b) { return builder.create<arith::MulFOp>(loc, a, b); }
  Value div(Value a, Value b) { return builder.create<arith::DivFOp>(loc, a, b); }
  Value exp(Value a) { return builder.create<math::ExpOp>(loc, a); }
  Value sqrt(Value a) { return builder.create<math::SqrtOp>(loc, a); }
  Value sin(Value a) { return builder.create<math::SinOp>(loc, a); }
  Value cos(Value a) { return builder.create<math::CosOp>(loc, a); }
  Value neg(Value a) { return builder.create<arith::NegFOp>(loc, a); }
  /// `value` with the constant `number` in every element.
  Value splatLike(Value value, double number);
  Value scale(Value value, double factor) { return mul(value, splatLike(value, factor)); }

  /// Over dimensions `dims` (ascending); the value itself if there are none.
  Value reduce(ReduceKind kind, Value value, ArrayRef<int64_t> dims);
  /// Over the last dimension.
  Value sumLast(Value value);
  Value meanLast(Value value);
  /// `value`, which lacks the last dimension of `like`, repeated along it.
  Value expandLast(Value value, Value like);
  /// `value`, which has the last dimensions of `like`, repeated along the leading ones (a scalar along all).
  Value expandLeading(Value value, Value like);
  Value expand(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims);

  OpBuilder &builder;
  Location loc;

private:
  FloatType compute;
};

/// 0, 1, …, count − 1.
SmallVector<int64_t> countUp(int64_t count);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_COMPUTEBUILDER_H
