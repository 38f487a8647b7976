//===- ExpandPower.cpp - powf without a library ---------------------------------------------------===//
#include "ExpandPower.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "par/Conversion/Scalars.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::par;

namespace {
/// The code of one power.
class PowerWriter : public Scalars {
public:
  PowerWriter(OpBuilder &builder, Location loc)
      : Scalars(builder, loc), f32(builder.getF32Type()), f64(builder.getF64Type()),
        i64(builder.getI64Type()) {}

  Value write(Value x, Value y) {
    Value size = create<math::AbsFOp>(x);
    Value power = raise(create<arith::ExtFOp>(f64, size), create<arith::ExtFOp>(f64, y));
    power = create<arith::TruncFOp>(f32, power);
    // Zero and infinity have no logarithm.
    Value rises = compare(arith::CmpFPredicate::OGT, y, constant(f32, 0));
    Value zero = constant(f32, 0), infinity = constant(f32, std::numeric_limits<double>::infinity());
    Value isZero = compare(arith::CmpFPredicate::OEQ, size, zero),
          isInfinite = compare(arith::CmpFPredicate::OEQ, size, infinity);
    power = select(isZero, select(rises, zero, infinity), power);
    power = select(isInfinite, select(rises, infinity, zero), power);
    power = setSign(x, y, power, isInfinite);
    Value sum = create<arith::AddFOp>(x, y);
    power = select(compare(arith::CmpFPredicate::UNO, x, y), sum, power);
    return select(isOne(x, size, y), constant(f32, 1), power);
  }

private:
  using Scalars::compare;
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return create<arith::CmpFOp>(predicate, a, b);
  }
  Value both(Value a, Value b) { return create<arith::AndIOp>(a, b); }
  Value add(Value a, Value b) { return create<arith::AddFOp>(a, b); }
  Value mul(Value a, Value b) { return create<arith::MulFOp>(a, b); }
  Value isWhole(Value x) { return compare(arith::CmpFPredicate::OEQ, create<math::FloorOp>(x), x); }

  /// x^0, 1^y, and (-1)^±infinity are 1, whatever else is NaN.
  Value isOne(Value x, Value size, Value y) {
    Value zeroth = compare(arith::CmpFPredicate::OEQ, y, constant(f32, 0)),
          ofOne = compare(arith::CmpFPredicate::OEQ, x, constant(f32, 1)),
          ofUnit = compare(arith::CmpFPredicate::OEQ, size, constant(f32, 1));
    Value endless = compare(arith::CmpFPredicate::OEQ, create<math::AbsFOp>(y),
                            constant(f32, std::numeric_limits<double>::infinity()));
    return create<arith::OrIOp>(create<arith::OrIOp>(zeroth, ofOne), both(ofUnit, endless));
  }

  /// Odd powers have the sign of x, even ones none, others of negative numbers do not exist.
  Value setSign(Value x, Value y, Value power, Value isInfinite) {
    Value isOdd = both(isWhole(y), invert(isWhole(mul(y, constant(f32, 0.5)))));
    Value isNegative = compare(arith::CmpIPredicate::slt, create<arith::BitcastOp>(builder.getI32Type(), x),
                               constant(builder.getI32Type(), 0));
    Value flipped = create<arith::NegFOp>(power);
    Value isMissing = both(compare(arith::CmpFPredicate::OLT, x, constant(f32, 0)),
                           both(invert(isWhole(y)), invert(isInfinite)));
    power = select(both(isNegative, isOdd), flipped, power);
    return select(isMissing, constant(f32, std::numeric_limits<double>::quiet_NaN()), power);
  }
  Value invert(Value condition) {
    return create<arith::XOrIOp>(condition, create<arith::ConstantOp>(builder.getBoolAttr(true)));
  }

  Value raise(Value x, Value y) { return power2(mul(y, log2(x))); }

  /// x = m · 2^e with m between √½ and √2; log2 m = 2 / ln 2 · artanh((m − 1) / (m + 1)), as a series.
  Value log2(Value x) {
    Value bits = create<arith::BitcastOp>(i64, x);
    auto whole = [&](int64_t value) { return create<arith::ConstantOp>(builder.getIntegerAttr(i64, value)); };
    Value above = create<arith::SubIOp>(bits, whole(0x3fe6a09e667f3bcd)); // √½
    Value exponent = create<arith::ShRSIOp>(above, whole(52));
    Value shifted = create<arith::ShLIOp>(exponent, whole(52));
    Value m = create<arith::BitcastOp>(f64, create<arith::SubIOp>(bits, shifted));
    Value s = create<arith::DivFOp>(add(m, constant(f64, -1)), add(m, constant(f64, 1))), z = mul(s, s);
    Value sum = constant(f64, 2 / M_LN2 / 17);
    for (int term = 7; term >= 0; --term)
      sum = create<math::FmaOp>(sum, z, constant(f64, 2 / M_LN2 / (2 * term + 1)));
    return add(create<arith::SIToFPOp>(f64, exponent), mul(s, sum));
  }

  /// Beyond 2^±200 it is infinite or zero in f32.
  Value power2(Value t) {
    Value least = constant(f64, -200), most = constant(f64, 200);
    t = select(compare(arith::CmpFPredicate::OGT, t, least), t, least);
    t = select(compare(arith::CmpFPredicate::OLT, t, most), t, most);
    Value n = create<math::RoundEvenOp>(t);
    Value f = mul(create<arith::SubFOp>(t, n), constant(f64, M_LN2));
    double factorial = 479001600; // of 12
    Value sum = constant(f64, 1 / factorial);
    for (int term = 11; term >= 0; --term)
      sum = create<math::FmaOp>(sum, f, constant(f64, 1 / (factorial /= term + 1)));
    Value exponent = create<arith::AddIOp>(create<arith::FPToSIOp>(i64, n), constant(i64, 1023));
    return mul(sum, create<arith::BitcastOp>(f64, create<arith::ShLIOp>(exponent, constant(i64, 52))));
  }

  Type f32, f64, i64;
};

struct ExpandPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    rewriter.replaceOp(op, PowerWriter(rewriter, op.getLoc()).write(op.getLhs(), op.getRhs()));
    return success();
  }
};
} // namespace

LogicalResult par::expandPower(ModuleOp kernels) {
  RewritePatternSet patterns(kernels.getContext());
  patterns.add<ExpandPower>(kernels.getContext());
  return applyPatternsAndFoldGreedily(kernels, std::move(patterns));
}
