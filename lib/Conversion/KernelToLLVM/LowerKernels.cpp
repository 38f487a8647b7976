//===- LowerKernels.cpp - kernel functions from loops to LLVM -----------------------------------------------===//
#include "LowerKernels.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::par;

/// f32 functions whose arguments may be far from zero (rotary angles): calls of the C library, before the polynomials take them.
template <typename Op>
static void callLibrary(ModuleOp module, StringRef name) {
  SmallVector<Op> ops;
  module.walk([&](Op op) {
    if (op.getType().isF32())
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = builder.getFunctionType(SmallVector<Type>(ops.front()->getNumOperands(), builder.getF32Type()), builder.getF32Type());
  auto declaration = builder.create<func::FuncOp>(module.getLoc(), name, type);
  declaration.setPrivate();
  // Pure: equal calls may be merged and moved out of loops.
  declaration->setAttr("passthrough", builder.getStrArrayAttr({"nounwind", "willreturn"}));
  for (Op op : ops) {
    builder.setInsertionPoint(op);
    auto call = builder.create<func::CallOp>(op.getLoc(), declaration, op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  }
}

LogicalResult par::lowerKernels(ModuleOp kernels) {
  callLibrary<math::SinOp>(kernels, "sinf");
  callLibrary<math::CosOp>(kernels, "cosf");
  callLibrary<math::PowFOp>(kernels, "powf");
  RewritePatternSet patterns(kernels.getContext());
  populateMathPolynomialApproximationPatterns(patterns);
  if (failed(applyPatternsAndFoldGreedily(kernels, std::move(patterns))))
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
