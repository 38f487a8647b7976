//===- Lemmas.cpp - which lemma is of which op ---------------------------------------------------===//
#include "Lemma.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

/// The table of lemmas: it is asked where every operand is said by dimensions.
static LemmaResult applyOwnLemma(LemmaContext &context) {
  Operation *op = context.op;
  if (isa<arith::SubFOp, arith::AddFOp, math::ExpOp>(op) && !context.operands[0].logPending.empty())
    return applyToLogarithm(context);
  return llvm::TypeSwitch<Operation *, LemmaResult>(op)
      .Case([&](AxisIndexOp index) { return applyToAxisIndex(context, index); })
      .Case([&](IotaOp iota) { return applyToIota(context, iota); })
      .Case([&](arith::ConstantOp constant) { return applyToConstant(context, constant); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>([&](auto) { return applyToIntegers(context); })
      .Case([&](arith::CmpIOp compare) { return applyToComparison(context, compare); })
      .Case<arith::SelectOp>([&](auto) { return applyToSelect(context); })
      .Case([&](ExpandOp expand) { return applyToExpand(context, expand); })
      .Case<PadOp, SliceOp>([&](auto shape) { return applyToResize(context, shape.getOffsets()); })
      .Case<ReshapeOp>([&](auto) { return applyToReshape(context); })
      .Case<ConcatOp>([&](auto) { return applyToConcat(context); })
      .Case<TakeRowsOp, EmbeddingOp>([&](auto) { return applyToTakeRows(context); })
      .Case<AddRowsOp>([&](auto) { return applyToAddRows(context, /*idsAreChecked=*/false); })
      .Case<EmbeddingBackwardOp>([&](auto) { return applyToAddRows(context, /*idsAreChecked=*/true); })
      .Case([&](CrossEntropyShardOp shard) { return applyToCrossEntropyShard(context, shard); })
      .Case([&](CrossEntropyBackwardOp backward) { return applyToCrossEntropyBackward(context, backward); })
      .Case<DropoutOp>([&](auto) { return applyToDropout(context); })
      .Case<AttentionOp, AttentionBackwardOp>([&](auto attend) { return applyToAttention(context, attend); })
      .Case<RmsNormOp, RmsNormBackwardOp>([&](auto norm) { return applyToNorm(context, norm); })
      .Case<WaitOp>([&](auto) { return SmallVector<Held, 0>(context.operands); })
      .Default([&](Operation *) -> LemmaResult {
        if (isa<CollectiveOpInterface, AllSliceOp>(op))
          return applyToExchange(context);
        if (getOpClass(op) == OpClass::Placed)
          return context.refuse("depends on its place, and no lemma says on which");
        return applyRule(context);
      });
}

LemmaResult par::applyLemma(LemmaContext &context) {
  auto exchange = dyn_cast<AllToAllOp>(context.op);
  if (exchange && readAxes(exchange.getAxes(), context.mesh).empty()) // among ranks that are alone
    return SmallVector<Held, 0>(context.operands);
  auto hasLayout = [](const Held &held) { return !held.blocks.empty(); };
  if (isa<WaitOp>(context.op) || !llvm::any_of(context.operands, hasLayout))
    return isa<AllToAllOp>(context.op) ? applyToBlocks(context) : applyOwnLemma(context);
  LemmaResult blocks = applyToBlocks(context);
  if (!llvm::all_of(context.operands, [](const Held &held) { return held.hasDims; }))
    return blocks;
  SmallVector<Held, 0> operands(context.operands);
  for (Held &held : operands)
    held.blocks.clear();
  LemmaContext plain(context.op, operands, context.mesh, context.numbers, context.isKnown);
  LemmaResult dims = applyOwnLemma(plain);
  context.reason = plain.reason;
  return choose(context, dims, blocks);
}
