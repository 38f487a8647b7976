//===- ElementDropout.cpp - elements of par.dropout ----------------------------------------------------===//
#include "par/Conversion/ScalarEvaluator.h"

using namespace mlir;
using namespace mlir::par;

/// Word 0 of Philox4x32-10, as philoxWord0 of the interpreter computes it.
Value ScalarEvaluator::computePhilox(ArrayRef<Value> counter, ArrayRef<Value> key) {
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
  Value drawn =
      computePhilox({narrow(element), narrow(high), rowInStep, *site}, {narrow(*key0), narrow(*key1)});
  double p = op.getP().convertToDouble();
  auto threshold = static_cast<uint32_t>(std::min(std::ceil(p * 4294967296.0), 4294967295.0));
  Value limit = constant(i32, threshold);
  Value keep = compare(arith::CmpIPredicate::uge, drawn, limit);
  Value scaled = create<arith::MulFOp>(*x, constant(x->getType(), 1.0 / (1.0 - p)));
  return select(keep, round(scaled, getElementTypeOrSelf(op.getResult())), constant(x->getType(), 0));
}
