//===- ElementDropout.cpp - elements of par.dropout ----------------------------------------------------===//
#include "par/Conversion/ScalarEvaluator.h"

using namespace mlir;
using namespace mlir::par;

FailureOr<Value> ScalarEvaluator::computeDropout(DropoutOp op, ArrayRef<Value> index) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto at = [&](Value vector, int64_t position) { return evaluate(vector, Index{constantIndex(position)}); };
  auto narrow = [&](Value value) {
    return value.getType() == i32 ? value : create<arith::TruncIOp>(i32, value);
  };
  FailureOr<Value> x = evaluate(op.getInput(), index), site = evaluate(op.getSite(), {}),
                   row = evaluate(op.getRow(), {});
  FailureOr<Value> key0 = at(op.getKey(), 0), key1 = at(op.getKey(), 1);
  if (failed(x) || failed(site) || failed(row) || failed(key0) || failed(key1))
    return failure();
  Value element = constant(i64, 0), rowInStep;
  for (auto [dim, each] : llvm::enumerate(index)) {
    FailureOr<Value> offset = at(op.getOffsets(), dim);
    if (failed(offset))
      return failure();
    Value wide = offset->getType() == i64 ? *offset : create<arith::ExtSIOp>(i64, *offset);
    Value position = create<arith::AddIOp>(create<arith::IndexCastOp>(i64, each), wide);
    if (dim == 0) {
      rowInStep = create<arith::AddIOp>(*row, narrow(position));
      continue;
    }
    Value scaled = create<arith::MulIOp>(position, constant(i64, static_cast<double>(op.getStrides()[dim])));
    element = create<arith::AddIOp>(element, scaled);
  }
  Value high = create<arith::ShRUIOp>(element, constant(i64, 32));
  Value drawn = drawPhilox({narrow(element), narrow(high), rowInStep, *site}, {narrow(*key0), narrow(*key1)});
  double p = op.getP().convertToDouble();
  Value keep = isKept(drawn, p);
  Value scaled = create<arith::MulFOp>(*x, constant(x->getType(), 1.0 / (1.0 - p)));
  return select(keep, round(scaled, getElementTypeOrSelf(op.getResult())), constant(x->getType(), 0));
}
