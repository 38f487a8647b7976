//===- ElementwiseArith.cpp - par's interfaces for arith ops --------------------------------------------===//
#include "ElementwiseModel.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

void par::registerElementwiseModels(DialectRegistry &registry) {
  registerArithModels(registry);
  registerMathModels(registry);
}

using Sets = SmallVector<SmallVector<int64_t>>;

/// A constant like `like` with `value` in every element.
static Value splatLike(OpBuilder &builder, Value like, double value) {
  return buildSplat(builder, like.getLoc(), cast<RankedTensorType>(like.getType()), value);
}

namespace {
//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

struct AddF : Elementwise {
  static constexpr bool zeroToZero = true;
  static Sets linearSets() { return {{0, 1}}; }
  static double evaluate(arith::AddFOp, ArrayRef<double> x) { return x[0] + x[1]; }
  static Value derive(OpBuilder &, arith::AddFOp, Value dy, unsigned) { return dy; }
};

struct SubF : Elementwise {
  static constexpr bool zeroToZero = true;
  static Sets linearSets() { return {{0, 1}}; }
  static double evaluate(arith::SubFOp, ArrayRef<double> x) { return x[0] - x[1]; }
  static Value derive(OpBuilder &b, arith::SubFOp op, Value dy, unsigned operand) {
    return operand == 0 ? dy : b.create<arith::NegFOp>(op.getLoc(), dy).getResult();
  }
};

struct MulF : Elementwise {
  static constexpr bool zeroToZero = true;
  static Sets linearSets() { return {{0}, {1}}; }
  static double evaluate(arith::MulFOp, ArrayRef<double> x) { return x[0] * x[1]; }
  static Value derive(OpBuilder &b, arith::MulFOp op, Value dy, unsigned operand) {
    return b.create<arith::MulFOp>(op.getLoc(), dy, op->getOperand(1 - operand));
  }
};

struct DivF : Elementwise {
  static Sets linearSets() { return {{0}}; }
  static double evaluate(arith::DivFOp, ArrayRef<double> x) { return x[0] / x[1]; }
  static Value derive(OpBuilder &b, arith::DivFOp op, Value dy, unsigned operand) {
    Value share = b.create<arith::DivFOp>(op.getLoc(), dy, op.getRhs());
    if (operand == 0)
      return share;
    return b.create<arith::NegFOp>(op.getLoc(), b.create<arith::MulFOp>(op.getLoc(), share, op.getResult()));
  }
};

struct NegF : ExactElementwise {
  static constexpr bool zeroToZero = true;
  static Sets linearSets() { return {{0}}; }
  static double evaluate(arith::NegFOp, ArrayRef<double> x) { return -x[0]; }
  static Value derive(OpBuilder &b, arith::NegFOp op, Value dy, unsigned) {
    return b.create<arith::NegFOp>(op.getLoc(), dy);
  }
};

/// Maximum and minimum: the cotangent goes to the operand that was chosen, the second one in a tie. There
/// constants stand, so that the derivative of max(x, 0) is 0 at 0, as everywhere that networks are trained.
template <typename Op, bool kMaximum>
struct Extremum : ExactElementwise {
  static constexpr bool zeroToZero = true;
  static double evaluate(Op, ArrayRef<double> x) {
    if (std::isnan(x[0]) || std::isnan(x[1]))
      return std::nan("");
    return kMaximum ? std::max(x[0], x[1]) : std::min(x[0], x[1]);
  }
  static Value derive(OpBuilder &b, Op op, Value dy, unsigned operand) {
    auto predicate = kMaximum ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    Value first = b.create<arith::CmpFOp>(op.getLoc(), predicate, op.getLhs(), op.getRhs());
    Value zero = splatLike(b, dy, 0.0);
    return operand == 0 ? b.create<arith::SelectOp>(op.getLoc(), first, dy, zero)
                        : b.create<arith::SelectOp>(op.getLoc(), first, zero, dy);
  }
};

struct CmpF : Elementwise {
  static double evaluate(arith::CmpFOp op, ArrayRef<double> x) {
    return arith::applyCmpPredicate(op.getPredicate(), APFloat(x[0]), APFloat(x[1])) ? 1 : 0;
  }
};

struct Select : ExactElementwise {
  static constexpr bool zeroToZero = true;
  static Sets linearSets() { return {{1, 2}}; }
  static double evaluate(arith::SelectOp, ArrayRef<double> x) { return x[0] != 0 ? x[1] : x[2]; }
  static Value derive(OpBuilder &b, arith::SelectOp op, Value dy, unsigned operand) {
    if (operand == 0)
      return nullptr;
    Value zero = splatLike(b, dy, 0.0);
    return operand == 1 ? b.create<arith::SelectOp>(op.getLoc(), op.getCondition(), dy, zero)
                        : b.create<arith::SelectOp>(op.getLoc(), op.getCondition(), zero, dy);
  }
};

/// Widening and narrowing of floats: the derivative converts back.
template <typename Op, typename Back>
struct ConvertF : Elementwise {
  /// How elements are held differs from their types.
  static FailureOr<Value> emit(Operation *op, ElementBuilder &builder, ArrayRef<Value> index) {
    FailureOr<Value> element = builder.evaluate(op->getOperand(0), index);
    return failed(element) ? element : builder.round(*element, getElementTypeOrSelf(op->getResult(0)));
  }
  static constexpr bool zeroToZero = true;
  static Sets linearSets() { return {{0}}; }
  /// The type of the result rounds: see Interpreter.
  static double evaluate(Op, ArrayRef<double> x) { return x[0]; }
  static Value derive(OpBuilder &b, Op op, Value dy, unsigned) {
    return b.create<Back>(op.getLoc(), op.getIn().getType(), dy);
  }
};

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

unsigned widthOf(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }

/// Two's complement of the width of `value`'s type; i1 is 0 or 1.
double wrap(Value value, int64_t number) {
  unsigned width = widthOf(value);
  return width == 1 ? static_cast<double>(number & 1)
                    : static_cast<double>(llvm::SignExtend64(number, width));
}

template <typename Op, int64_t (*kFunction)(int64_t, int64_t)>
struct IntegerOp : Elementwise {
  static double evaluate(Op op, ArrayRef<double> x) {
    return wrap(op.getResult(), kFunction(static_cast<int64_t>(x[0]), static_cast<int64_t>(x[1])));
  }
};
int64_t addI(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t subI(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t mulI(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t andI(int64_t a, int64_t b) { return a & b; }
int64_t orI(int64_t a, int64_t b) { return a | b; }
int64_t xorI(int64_t a, int64_t b) { return a ^ b; }
// Division by zero, which has no meaning, gives 0; the quotient of the least number and −1 wraps.
int64_t divI(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? subI(0, a) : a / b; }
int64_t remI(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
int64_t maxI(int64_t a, int64_t b) { return std::max(a, b); }
int64_t minI(int64_t a, int64_t b) { return std::min(a, b); }

struct CmpI : Elementwise {
  static double evaluate(arith::CmpIOp op, ArrayRef<double> x) {
    auto a = static_cast<int64_t>(x[0]), b = static_cast<int64_t>(x[1]);
    unsigned width = getElementTypeOrSelf(op.getLhs().getType()).getIntOrFloatBitWidth();
    return arith::applyCmpPredicate(op.getPredicate(), APInt(width, a, true), APInt(width, b, true)) ? 1 : 0;
  }
};

/// The signed number is kept; the one bit of i1 is the sign, so 1 means −1.
template <typename Op>
struct FromSigned : Elementwise {
  static constexpr bool zeroToZero = true;
  static double evaluate(Op op, ArrayRef<double> x) { return widthOf(op.getIn()) == 1 ? -x[0] : x[0]; }
};

/// The bits are taken as an unsigned number.
template <typename Op>
struct FromUnsigned : Elementwise {
  static constexpr bool zeroToZero = true;
  static double evaluate(Op op, ArrayRef<double> x) {
    return x[0] < 0 ? x[0] + std::ldexp(1.0, widthOf(op.getIn())) : x[0];
  }
};

struct FloatToInteger : Elementwise {
  static constexpr bool zeroToZero = true;
  static double evaluate(arith::FPToSIOp, ArrayRef<double> x) { return std::trunc(x[0]); }
};

struct Truncate : Elementwise {
  static double evaluate(arith::TruncIOp op, ArrayRef<double> x) {
    return wrap(op.getResult(), static_cast<int64_t>(x[0]));
  }
};

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Splats may be split: every shard is the same splat. Other constants are kept whole.
struct ConstantRule : ShardingRuleOpInterface::ExternalModel<ConstantRule, arith::ConstantOp> {
  RuleAttr getShardingRule(Operation *op) const {
    RuleBuilder rule(op);
    auto value = dyn_cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    FactorKind kind = value && value.isSplat() ? FactorKind::PassThrough : FactorKind::NeedReplication;
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(op->getResult(0).getType()).getShape()))
      rule.mapResult(0, dim, rule.addFactor(size, kind));
    return rule.build();
  }
  FailureOr<SmallVector<Value>> localize(Operation *op, Localizer &localizer) const {
    auto type = cast<RankedTensorType>(localizer.resultTypes[0]);
    auto value = cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    if (value.isSplat())
      value = value.resizeSplat(type);
    return SmallVector<Value>{localizer.builder.create<arith::ConstantOp>(op->getLoc(), value)};
  }
  bool mapsZeroToZero(Operation *op) const {
    auto value = dyn_cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return value && value.isSplat() &&
           (matchPattern(op->getResult(0), m_AnyZeroFloat()) || matchPattern(op->getResult(0), m_Zero()));
  }
};

struct ConstantInterpret : InterpretableOpInterface::ExternalModel<ConstantInterpret, arith::ConstantOp> {
  LogicalResult interpret(Operation *op, ArrayRef<Tensor>, MutableArrayRef<Tensor> results,
                          InterpreterContext &) const {
    auto value = dyn_cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    if (!value)
      return op->emitOpError("only dense constants of tensors can be interpreted");
    int64_t position = 0;
    if (isa<FloatType>(value.getElementType())) {
      for (APFloat element : value.getValues<APFloat>()) {
        bool loses;
        element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
        results[0].values[position++] = element.convertToDouble();
      }
    } else {
      bool isBit = value.getElementType().isInteger(1);
      for (const APInt &element : value.getValues<APInt>())
        results[0].values[position++] =
            isBit ? static_cast<double>(element.getZExtValue()) : static_cast<double>(element.getSExtValue());
    }
    return success();
  }
};

struct ConstantGradient : DifferentiableOpInterface::ExternalModel<ConstantGradient, arith::ConstantOp> {
  LogicalResult differentiate(Operation *, OpBuilder &, ValueRange, ArrayRef<bool>,
                              SmallVectorImpl<Value> &) const {
    return success();
  }
};
struct ConstantCost : CostOpInterface::ExternalModel<ConstantCost, arith::ConstantOp> {
  double getFlops(Operation *) const { return 0; }
};
struct ConstantKernel : KernelOpInterface::ExternalModel<ConstantKernel, arith::ConstantOp> {
  OpClass getOpClass(Operation *) const { return OpClass::Elementwise; }
  FailureOr<Value> emitElement(Operation *op, ElementBuilder &builder, ArrayRef<Value> index) const {
    auto value = dyn_cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    if (!value)
      return op->emitOpError("kernel generation: only dense constants can be generated");
    if (!value.isSplat())
      return builder.readData(op->getResult(0), value, index);
    auto splat = value.getSplatValue<TypedAttr>();
    if (ElementBuilder::isNarrow(splat.getType()))
      return builder.constant(builder.builder.getF32Type(), cast<FloatAttr>(splat).getValueAsDouble());
    return builder.create<arith::ConstantOp>(splat);
  }
};
} // namespace

void par::registerArithModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    // Rules are attributes of par: a module without any op of par has them as well.
    context->loadDialect<ParDialect>();
    attachElementwise<AddF, arith::AddFOp>(context);
    attachElementwise<SubF, arith::SubFOp>(context);
    attachElementwise<MulF, arith::MulFOp>(context);
    attachElementwise<DivF, arith::DivFOp>(context);
    attachElementwise<NegF, arith::NegFOp>(context);
    attachElementwise<Extremum<arith::MaximumFOp, true>, arith::MaximumFOp>(context);
    attachElementwise<Extremum<arith::MinimumFOp, false>, arith::MinimumFOp>(context);
    attachElementwise<CmpF, arith::CmpFOp>(context);
    attachElementwise<Select, arith::SelectOp>(context);
    attachElementwise<ConvertF<arith::ExtFOp, arith::TruncFOp>, arith::ExtFOp>(context);
    attachElementwise<ConvertF<arith::TruncFOp, arith::ExtFOp>, arith::TruncFOp>(context);
    attachElementwise<IntegerOp<arith::AddIOp, addI>, arith::AddIOp>(context);
    attachElementwise<IntegerOp<arith::SubIOp, subI>, arith::SubIOp>(context);
    attachElementwise<IntegerOp<arith::MulIOp, mulI>, arith::MulIOp>(context);
    attachElementwise<IntegerOp<arith::AndIOp, andI>, arith::AndIOp>(context);
    attachElementwise<IntegerOp<arith::OrIOp, orI>, arith::OrIOp>(context);
    attachElementwise<IntegerOp<arith::XOrIOp, xorI>, arith::XOrIOp>(context);
    attachElementwise<IntegerOp<arith::DivSIOp, divI>, arith::DivSIOp>(context);
    attachElementwise<IntegerOp<arith::RemSIOp, remI>, arith::RemSIOp>(context);
    attachElementwise<IntegerOp<arith::MaxSIOp, maxI>, arith::MaxSIOp>(context);
    attachElementwise<IntegerOp<arith::MinSIOp, minI>, arith::MinSIOp>(context);
    attachElementwise<CmpI, arith::CmpIOp>(context);
    attachElementwise<FromSigned<arith::SIToFPOp>, arith::SIToFPOp>(context);
    attachElementwise<FromUnsigned<arith::UIToFPOp>, arith::UIToFPOp>(context);
    attachElementwise<FromSigned<arith::ExtSIOp>, arith::ExtSIOp>(context);
    attachElementwise<FromUnsigned<arith::ExtUIOp>, arith::ExtUIOp>(context);
    attachElementwise<FloatToInteger, arith::FPToSIOp>(context);
    attachElementwise<Truncate, arith::TruncIOp>(context);
    arith::ConstantOp::attachInterface<ConstantRule, ConstantInterpret, ConstantGradient, ConstantCost,
                                       ConstantKernel>(*context);
  });
}
