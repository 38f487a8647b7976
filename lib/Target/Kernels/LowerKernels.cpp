//===- LowerKernels.cpp - kernel functions from loops to LLVM -------------------------------------------===//
#include "LowerKernels.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "par/Conversion/Scalars.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// sin and cos of f32 by reduction to [-π/4, π/4] and Cephes' polynomials (sinf.c); about 2 units in the last
/// place up to 10^6. π/2 in three parts (Cody and Waite): with fused multiply-add the reduction is as good as
/// the argument. Vectorises, which calls of the C library do not.
template <typename Op>
struct ReduceAndApproximate : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type(), i32 = rewriter.getI32Type();
    Scalars scalars(rewriter, loc);
    auto real = [&](double value) { return scalars.constant(f32, value); };
    auto whole = [&](int32_t value) { return scalars.constant(i32, value); };
    auto fma = [&](Value a, Value b, Value c) {
      return rewriter.create<math::FmaOp>(loc, a, b, c).getResult();
    };
    auto mul = [&](Value a, Value b) { return rewriter.create<arith::MulFOp>(loc, a, b).getResult(); };
    Value x = op.getOperand();
    Value turns = rewriter.create<math::RoundEvenOp>(loc, mul(x, real(0.636619772367581343)));
    Value r = fma(turns, real(-1.5707962512969970703125), x);
    r = fma(turns, real(-7.5497894158615963533521e-8), r);
    r = fma(turns, real(-5.3903029534742383e-15), r);
    Value z = mul(r, r);
    Value sine = fma(z, real(-1.9515295891e-4), real(8.3321608736e-3));
    sine = fma(mul(fma(z, sine, real(-1.6666654611e-1)), z), r, r);
    Value cosine = fma(z, real(2.443315711809948e-5), real(-1.388731625493765e-3));
    cosine = fma(z, cosine, real(4.166664568298827e-2));
    cosine = fma(mul(z, z), cosine, fma(z, real(-0.5), real(1.0)));
    // Quadrant 0: sin r, 1: cos r, 2: -sin r, 3: -cos r; cos is a quadrant ahead.
    Value quadrant = rewriter.create<arith::FPToSIOp>(loc, i32, turns);
    if (std::is_same_v<Op, math::CosOp>)
      quadrant = rewriter.create<arith::AddIOp>(loc, quadrant, whole(1));
    auto bit = [&](int32_t mask) {
      Value masked = rewriter.create<arith::AndIOp>(loc, quadrant, whole(mask));
      return rewriter.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, masked, whole(0)).getResult();
    };
    Value magnitude = rewriter.create<arith::SelectOp>(loc, bit(1), cosine, sine);
    Value negative = rewriter.create<arith::NegFOp>(loc, f32, magnitude);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, bit(2), negative, magnitude);
    return success();
  }
};

/// Of f32 to bf16 and back, in the integers of a processor: every one has vectors of them. NaN is kept.
struct RoundBits : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    auto narrow = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!narrow || !narrow.getType().isBF16() || !op.getType().isF32() || !narrow.getIn().getType().isF32())
      return failure();
    Scalars scalars(rewriter, op.getLoc());
    Type i32 = rewriter.getI32Type();
    auto whole = [&](int32_t value) { return scalars.constant(i32, value); };
    Value value = narrow.getIn(), bits = scalars.create<arith::BitcastOp>(i32, value);
    Value upper = scalars.create<arith::ShRUIOp>(bits, whole(16));
    Value odd = scalars.create<arith::AndIOp>(upper, whole(1));
    Value bias = scalars.create<arith::AddIOp>(odd, whole(0x7FFF));
    Value rounded = scalars.create<arith::AddIOp>(bits, bias);
    Value quiet = scalars.create<arith::OrIOp>(bits, whole(0x400000));
    Value isNan = scalars.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
    Value kept = scalars.create<arith::AndIOp>(scalars.select(isNan, quiet, rounded), whole(-65536));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), kept);
    return success();
  }
};
} // namespace

static LogicalResult roundBits(ModuleOp kernels) {
  RewritePatternSet patterns(kernels.getContext());
  patterns.add<RoundBits>(kernels.getContext());
  return applyPatternsAndFoldGreedily(kernels, std::move(patterns));
}

static LogicalResult approximateMath(ModuleOp kernels) {
  RewritePatternSet trigonometry(kernels.getContext());
  trigonometry.add<ReduceAndApproximate<math::SinOp>, ReduceAndApproximate<math::CosOp>>(
      kernels.getContext());
  if (failed(applyPatternsAndFoldGreedily(kernels, std::move(trigonometry))))
    return failure();
  RewritePatternSet patterns(kernels.getContext());
  populateMathPolynomialApproximationPatterns(patterns);
  return applyPatternsAndFoldGreedily(kernels, std::move(patterns));
}

LogicalResult par::lowerLoopsToLLVM(ModuleOp kernels) {
  if (failed(roundBits(kernels)) || failed(approximateMath(kernels)))
    return failure();
  PassManager passes(kernels.getContext());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertSCFToCFPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions plainPointers;
  plainPointers.useBarePtrCallConv = true;
  passes.addPass(createConvertFuncToLLVMPass(plainPointers));
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return passes.run(kernels);
}
