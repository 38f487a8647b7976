//===- RoundParts.cpp - concatenations that are rounded part by part
//--------------------------------------===//
#include "RoundParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "par/Conversion/ScalarEvaluator.h"
#include "par/Dialect/Par/IR/Par.h"

using namespace mlir;
using namespace mlir::par;

static void roundParts(arith::TruncFOp rounding, ConcatOp whole) {
  OpBuilder builder(rounding);
  auto type = cast<RankedTensorType>(rounding.getType());
  SmallVector<Value> parts;
  for (Value input : whole.getInputs()) {
    auto part = cast<RankedTensorType>(input.getType()).clone(type.getElementType());
    parts.push_back(builder.create<arith::TruncFOp>(rounding.getLoc(), part, input));
  }
  rounding.replaceAllUsesWith(
      builder.create<ConcatOp>(whole.getLoc(), type, parts, whole.getDim()).getOperation());
  rounding.erase();
  whole.erase();
}

LogicalResult par::decomposeForDevice(Block &block) {
  if (failed(decomposeKernel(block)))
    return failure();
  for (auto rounding : llvm::make_early_inc_range(block.getOps<arith::TruncFOp>()))
    if (auto whole = rounding.getIn().getDefiningOp<ConcatOp>(); whole && whole->hasOneUse())
      roundParts(rounding, whole);
  return success();
}
