//===- ElementwiseMath.cpp - par's interfaces for math ops ----------------------------------------------===//
#include "ElementwiseModel.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

namespace {
/// Writes derivatives in a few words.
struct Formula {
  OpBuilder &b;
  Location loc;
  RankedTensorType type;

  Formula(OpBuilder &b, Operation *op)
      : b(b), loc(op->getLoc()), type(cast<RankedTensorType>(op->getResult(0).getType())) {}
  Value c(double value) { return buildSplat(b, loc, type, value); }
  Value add(Value x, Value y) { return b.create<arith::AddFOp>(loc, x, y); }
  Value sub(Value x, Value y) { return b.create<arith::SubFOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.create<arith::MulFOp>(loc, x, y); }
  Value div(Value x, Value y) { return b.create<arith::DivFOp>(loc, x, y); }
  Value neg(Value x) { return b.create<arith::NegFOp>(loc, x); }
  /// x times a number that the type need not hold: the rest is added, so that in exact arithmetic (the
  /// interpreter's) nothing is lost.
  Value scale(Value x, double factor) {
    double held = round(factor), rest = round(factor - held);
    Value product = mul(x, c(held));
    return rest == 0 ? product : add(product, mul(x, c(rest)));
  }
  template <typename Op>
  Value apply(Value x) {
    return b.create<Op>(loc, x);
  }

private:
  double round(double value) const { return b.getFloatAttr(type.getElementType(), value).getValueAsDouble(); }
};

/// A function of one variable: `kFunction`, and dy ↦ dy·f′ built from f, operand x and result y.
template <typename Op, double (*kFunction)(double), Value (*kDerivative)(Formula, Value dy, Value x, Value y),
          bool kZero>
struct Unary : Elementwise {
  static constexpr bool zeroToZero = kZero;
  static double evaluate(Op, ArrayRef<double> x) { return kFunction(x[0]); }
  static Value derive(OpBuilder &b, Op op, Value dy, unsigned) {
    return kDerivative(Formula(b, op), dy, op->getOperand(0), op->getResult(0));
  }
};

double expOf(double x) { return std::exp(x); }
double expm1Of(double x) { return std::expm1(x); }
double logOf(double x) { return std::log(x); }
double log1pOf(double x) { return std::log1p(x); }
double tanhOf(double x) { return std::tanh(x); }
double sqrtOf(double x) { return std::sqrt(x); }
double rsqrtOf(double x) { return 1.0 / std::sqrt(x); }
double erfOf(double x) { return std::erf(x); }
double sinOf(double x) { return std::sin(x); }
double cosOf(double x) { return std::cos(x); }
double absOf(double x) { return std::fabs(x); }
double floorOf(double x) { return std::floor(x); }

Value dExp(Formula f, Value dy, Value, Value y) { return f.mul(dy, y); }
Value dExpm1(Formula f, Value dy, Value, Value y) { return f.mul(dy, f.add(y, f.c(1))); }
Value dLog(Formula f, Value dy, Value x, Value) { return f.div(dy, x); }
Value dLog1p(Formula f, Value dy, Value x, Value) { return f.div(dy, f.add(x, f.c(1))); }
Value dTanh(Formula f, Value dy, Value, Value y) { return f.mul(dy, f.sub(f.c(1), f.mul(y, y))); }
Value dSqrt(Formula f, Value dy, Value, Value y) { return f.div(f.mul(dy, f.c(0.5)), y); }
Value dRsqrt(Formula f, Value dy, Value, Value y) {
  return f.mul(f.mul(dy, f.c(-0.5)), f.mul(y, f.mul(y, y)));
}
Value dErf(Formula f, Value dy, Value x, Value) {
  // 2/√π · exp(−x²)
  return f.mul(f.scale(dy, 1.1283791670955126), f.apply<math::ExpOp>(f.neg(f.mul(x, x))));
}
Value dSin(Formula f, Value dy, Value x, Value) { return f.mul(dy, f.apply<math::CosOp>(x)); }
Value dCos(Formula f, Value dy, Value x, Value) { return f.neg(f.mul(dy, f.apply<math::SinOp>(x))); }
Value dAbs(Formula f, Value dy, Value x, Value) {
  Value positive = f.b.create<arith::CmpFOp>(f.loc, arith::CmpFPredicate::OGE, x, f.c(0));
  return f.b.create<arith::SelectOp>(f.loc, positive, dy, f.neg(dy));
}
Value dNone(Formula, Value, Value, Value) { return nullptr; }

struct Power : Elementwise {
  static double evaluate(math::PowFOp, ArrayRef<double> x) { return std::pow(x[0], x[1]); }
  static Value derive(OpBuilder &b, math::PowFOp op, Value dy, unsigned operand) {
    Formula f(b, op);
    if (operand == 1)
      return f.mul(dy, f.mul(op.getResult(), f.apply<math::LogOp>(op.getLhs())));
    Value lower = b.create<math::PowFOp>(op.getLoc(), op.getLhs(), f.sub(op.getRhs(), f.c(1)));
    return f.mul(dy, f.mul(op.getRhs(), lower));
  }
};
} // namespace

void par::registerMathModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    context->loadDialect<ParDialect>();
    attachElementwise<Unary<math::ExpOp, expOf, dExp, false>, math::ExpOp>(context);
    attachElementwise<Unary<math::ExpM1Op, expm1Of, dExpm1, true>, math::ExpM1Op>(context);
    attachElementwise<Unary<math::LogOp, logOf, dLog, false>, math::LogOp>(context);
    attachElementwise<Unary<math::Log1pOp, log1pOf, dLog1p, true>, math::Log1pOp>(context);
    attachElementwise<Unary<math::TanhOp, tanhOf, dTanh, true>, math::TanhOp>(context);
    attachElementwise<Unary<math::SqrtOp, sqrtOf, dSqrt, true>, math::SqrtOp>(context);
    attachElementwise<Unary<math::RsqrtOp, rsqrtOf, dRsqrt, false>, math::RsqrtOp>(context);
    attachElementwise<Unary<math::ErfOp, erfOf, dErf, true>, math::ErfOp>(context);
    attachElementwise<Unary<math::SinOp, sinOf, dSin, true>, math::SinOp>(context);
    attachElementwise<Unary<math::CosOp, cosOf, dCos, false>, math::CosOp>(context);
    attachElementwise<Unary<math::AbsFOp, absOf, dAbs, true>, math::AbsFOp>(context);
    attachElementwise<Unary<math::FloorOp, floorOf, dNone, true>, math::FloorOp>(context);
    attachElementwise<Power, math::PowFOp>(context);
  });
}
