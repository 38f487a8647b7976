//===- HardwareMath.cpp - what a GPU computes in an instruction or a few ----------------------===//
#include "HardwareMath.h"
#include "Bf16Pair.h"
#include "KernelEntry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "par/Conversion/Scalars.h"
#include "par/Target/Target.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

namespace {
class HardwareWriter : public Scalars {
public:
  HardwareWriter(OpBuilder &builder, Location loc) : Scalars(builder, loc), f32(builder.getF32Type()) {}

  /// The upper half of the two that one instruction rounds is what f32 holds of it, if the lower one is zero.
  Value roundToBf16(Value x) {
    return create<LLVM::BitcastOp>(f32, packBf16(builder, loc, /*low=*/real(0), x));
  }

  /// 2^t of t = x log₂ e, rounded: off by |t| 2^-24 of itself. So large powers are off by more than f32 has
  /// them, and far less than bf16 has; in a sum beside e^0 that is 2^-25 at most.
  Value exponential(Value x) { return powerOfTwo(multiply(x, real(kLog2e))); }

  /// 1 − 2 / (1 + e^2|x|), with the sign of x. Where that cancels, the beginning of the series.
  Value tangent(Value x) {
    Value size = create<math::AbsFOp>(x);
    Value power = powerOfTwo(multiply(create<arith::MinimumFOp>(size, real(10)), real(2 * M_LOG2E)));
    Value large = fma(reciprocal(add(power, real(1))), real(-2), real(1));
    Value square = multiply(x, x), series = real(62.0 / 2835);
    for (double term : {-17.0 / 315, 2.0 / 15, -1.0 / 3})
      series = fma(series, square, real(term));
    Value isSmall = create<arith::CmpFOp>(arith::CmpFPredicate::OLT, size, real(0.3));
    return select(isSmall, fma(multiply(x, square), series, x), create<math::CopySignOp>(large, x));
  }

  Value reciprocal(Value x) { return call("rcp.approx.ftz.f", x); }

private:
  /// log₂ e as an f32.
  static constexpr double kLog2e = 1.442695021629333496;

  Value real(double value) { return constant(f32, value); }
  Value add(Value a, Value b) { return create<arith::AddFOp>(a, b); }
  Value multiply(Value a, Value b) { return create<arith::MulFOp>(a, b); }
  Value fma(Value a, Value b, Value c) { return create<math::FmaOp>(a, b, c); }
  Value powerOfTwo(Value x) { return call("ex2.approx.ftz.f", x); }
  Value call(StringRef name, Value x) {
    return create<LLVM::CallIntrinsicOp>(f32, builder.getStringAttr("llvm.nvvm." + name), x);
  }

  Type f32;
};

/// A function of f32 as the hardware has it.
template <typename Op, Value (HardwareWriter::*write)(Value)>
struct UseHardware : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    HardwareWriter writer(rewriter, op.getLoc());
    rewriter.replaceOp(op, (writer.*write)(op.getOperand()));
    return success();
  }
};

struct UseRounding : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    auto narrow = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!narrow || !narrow.getType().isBF16() || !op.getType().isF32() || !narrow.getIn().getType().isF32())
      return failure();
    rewriter.replaceOp(op, HardwareWriter(rewriter, op.getLoc()).roundToBf16(narrow.getIn()));
    return success();
  }
};

/// 1 / (1 + e^x): of what is 1 at least, a reciprocal is good in one instruction.
struct UseReciprocal : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
    if (!op.getType().isF32() || !sum || !isOne(op.getLhs()))
      return failure();
    auto isPower = [](Value value) { return value.getDefiningOp<math::ExpOp>() != nullptr; };
    if (!(isPower(sum.getLhs()) && isOne(sum.getRhs())) && !(isOne(sum.getLhs()) && isPower(sum.getRhs())))
      return failure();
    rewriter.replaceOp(op, HardwareWriter(rewriter, op.getLoc()).reciprocal(sum));
    return success();
  }

  static bool isOne(Value value) { return matchPattern(value, m_OneFloat()); }
};

/// A product and a sum, or a difference, in one instruction and one rounding. Written here, where the
/// emulated kernels are made of it too, since back ends would each join others.
template <typename Op>
struct UseFma : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    for (bool isLeft : {true, false}) {
      auto product = (isLeft ? op.getLhs() : op.getRhs()).template getDefiningOp<arith::MulFOp>();
      if (!product || !product->hasOneUse())
        continue;
      auto negate = [&](Value value) {
        return rewriter.create<arith::NegFOp>(op.getLoc(), value).getResult();
      };
      constexpr bool isDifference = std::is_same_v<Op, arith::SubFOp>;
      Value factor = product.getLhs(), rest = isLeft ? op.getRhs() : op.getLhs();
      if (isDifference && isLeft)
        rest = negate(rest);
      else if (isDifference)
        factor = negate(factor);
      rewriter.replaceOpWithNewOp<math::FmaOp>(op, factor, product.getRhs(), rest);
      return success();
    }
    return failure();
  }
};
} // namespace

/// True if anything in it is in two bytes, whose own rounding is 2^-9: also what it only reads, which lies in
/// memory as integers (Scalars::getMemoryType).
static bool worksInBf16(func::FuncOp function) {
  auto isBf16 = [](Type type) { return getElementTypeOrSelf(type).isBF16(); };
  auto liesInBf16 = [](Type type) {
    return isa<MemRefType>(type) && getElementTypeOrSelf(type).isInteger(16);
  };
  if (llvm::any_of(function.getArgumentTypes(), liesInBf16))
    return true;
  return function
      .walk([&](Operation *op) {
        bool any = llvm::any_of(op->getOperandTypes(), isBf16) || llvm::any_of(op->getResultTypes(), isBf16);
        return any ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static LogicalResult approximate(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet sigmoids(context); // they are known by their exponentials
  sigmoids.add<UseReciprocal>(context);
  if (failed(applyPatternsAndFoldGreedily(function, std::move(sigmoids))))
    return failure();
  RewritePatternSet functions(context);
  functions.add<UseHardware<math::ExpOp, &HardwareWriter::exponential>,
                UseHardware<math::TanhOp, &HardwareWriter::tangent>>(context);
  return applyPatternsAndFoldGreedily(function, std::move(functions));
}

LogicalResult par::useHardwareMath(ModuleOp kernels) {
  for (auto function : kernels.getOps<func::FuncOp>())
    if (worksInBf16(function) && failed(approximate(function)))
      return failure();
  MLIRContext *context = kernels.getContext();
  RewritePatternSet rounding(context), products(context);
  rounding.add<UseRounding>(context);
  products.add<UseFma<arith::AddFOp>, UseFma<arith::SubFOp>>(context);
  FrozenRewritePatternSet joined(std::move(products));
  for (auto function : kernels.getOps<func::FuncOp>())
    if (!function->removeAttr(kKeepsOperationsAttr) && failed(applyPatternsAndFoldGreedily(function, joined)))
      return failure();
  return applyPatternsAndFoldGreedily(kernels, std::move(rounding));
}
