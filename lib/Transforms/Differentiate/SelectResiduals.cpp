//===- SelectResiduals.cpp - chooses which forward values are saved for the backward pass ---------------===//
#include "Differentiator.h"
#include "RecomputePolicy.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Transforms/Differentiate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SELECTRESIDUALS
#include "par/Transforms/Differentiate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {

struct SelectResidualsPass : public par::impl::SelectResidualsBase<SelectResidualsPass> {
  using SelectResidualsBase::SelectResidualsBase;
  void runOnOperation() override;

private:
  /// Called with what was chosen for each function.
  using Observer = function_ref<void(JointFunction &, const DenseSet<Value> &)>;
  struct Choice {
    RecomputePolicy policy;
    double secondsPerByte = 0; ///< of Auto
  };
  struct Outcome {
    Choice choice;
    int64_t bytes = 0;
    double seconds = 0;
  };
  LogicalResult choose(Choice choice, Observer observe);
  FailureOr<Outcome> measure(Choice choice);
  int64_t countHeld(JointFunction &joint, ArrayRef<Value> residuals);
  bool endsInLoss(Operation *call) const;
  FailureOr<Choice> fitLimit();
  void countRuns();
  void countRuns(func::FuncOp function);

  void mark(func::FuncOp function, JointFunction &joint, const DenseSet<Value> &saved);
  void markOp(Operation *op, Operation *clone, const DenseSet<Value> &saved);

  const Target *target = nullptr;
  llvm::StringSet<> lossLayers;
  llvm::StringMap<int64_t> timesRun;
};

} // namespace

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

void SelectResidualsPass::markOp(Operation *op, Operation *clone, const DenseSet<Value> &saved) {
  SmallVector<int64_t> numbers;
  for (unsigned index = 0; index < op->getNumResults(); ++index) {
    Value value = clone->getResult(index);
    if (!saved.contains(value))
      continue;
    numbers.push_back(index);
    if (explain)
      op->emitRemark("saved: result ") << index << ", " << getLocalBytes(value) << " bytes";
  }
  if (!numbers.empty())
    op->setAttr(ParDialect::kSaveAttr, DenseI64ArrayAttr::get(op->getContext(), numbers));
  if (!clone->hasAttr(ParDialect::kRecomputeAttr))
    return;
  op->setAttr(ParDialect::kRecomputeAttr, UnitAttr::get(op->getContext()));
  if (!explain)
    return;
  OpCost cost = estimateCost(op);
  op->emitRemark("recomputed: ") << static_cast<int64_t>(cost.flops) << " flops, "
                                 << static_cast<int64_t>(cost.gathered + cost.summed) << " bytes on the wire";
}

/// The joint function's forward part has the ops of `function` in the same order.
void SelectResidualsPass::mark(func::FuncOp function, JointFunction &joint, const DenseSet<Value> &saved) {
  for (BlockArgument argument : function.getArguments()) {
    Value clone = joint.getBody().getArgument(argument.getArgNumber());
    if (!saved.contains(clone))
      continue;
    function.setArgAttr(argument.getArgNumber(), ParDialect::kSaveAttr, UnitAttr::get(&getContext()));
    if (explain)
      function.emitRemark("saved: argument ")
          << argument.getArgNumber() << ", " << getLocalBytes(clone) << " bytes"
          << (joint.info.isChunk ? "" : ", kept by the caller");
  }
  for (auto [op, clone] : llvm::zip(function.getBody().front().without_terminator(), joint.forwardOps))
    markOp(&op, clone, saved);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// What a layer's backward uses of its caller is known once the layer is differentiated, so a copy of the
/// module is.
LogicalResult SelectResidualsPass::choose(Choice choice, Observer observe) {
  OwningOpRef<ModuleOp> scratch(cast<ModuleOp>(getOperation()->clone()));
  auto chooser = [&](JointFunction &joint) {
    bool isLast = lossLayers.contains(joint.info.function.getName());
    DenseSet<Value> saved =
        chooseMinimumCut(joint, getRecomputeCost(joint, isLast ? RecomputePolicy::Hold : choice.policy,
                                                 choice.secondsPerByte, *target));
    observe(joint, saved);
    return saved;
  };
  return differentiateModule(*scratch, /*split=*/false, Float32Type::get(&getContext()), chooser);
}

/// A call in a joint function, by the name of what it is a clone of.
bool SelectResidualsPass::endsInLoss(Operation *op) const {
  auto call = dyn_cast_or_null<CallOp>(op);
  StringRef callee = call ? call.getCallee() : "";
  return callee.consume_back(".forward") && lossLayers.contains(callee);
}

/// Bytes of a chunk's residuals. Where those of the call that ends in the loss are large (logits), the call
/// moves to the backward pass (par-defer-loss): what it reads is held in their place.
int64_t SelectResidualsPass::countHeld(JointFunction &joint, ArrayRef<Value> residuals) {
  SetVector<Value> held(residuals.begin(), residuals.end());
  for (Value residual : residuals) {
    Operation *call = residual.getDefiningOp();
    if (!endsInLoss(call) || getLocalBytes(residual) <= target->limits.largestValue)
      continue;
    for (Value result : call->getResults())
      held.remove(result);
    for (Value operand : call->getOperands())
      if (joint.forwardOps.contains(operand.getDefiningOp()))
        held.insert(operand);
  }
  int64_t bytes = 0;
  for (Value value : held)
    bytes += getLocalBytes(value);
  return bytes;
}

/// What the chunks of a rank save per micro-batch, and the modelled time of what they run again.
FailureOr<SelectResidualsPass::Outcome> SelectResidualsPass::measure(Choice choice) {
  Outcome outcome{choice};
  auto add = [&](JointFunction &joint, const DenseSet<Value> &saved) {
    double seconds = 0;
    for (Operation *op : joint.forwardOps)
      if (op->hasAttr(ParDialect::kRecomputeAttr))
        seconds += getSeconds(estimateCost(op), target->rates);
    outcome.seconds += seconds * static_cast<double>(timesRun.lookup(joint.info.function.getName()));
    if (!joint.info.isChunk)
      return;
    if (FailureOr<SavePlan> plan = SavePlan::create(joint, saved); succeeded(plan))
      outcome.bytes += countHeld(joint, plan->getResiduals());
  };
  if (failed(choose(choice, add)))
    return failure();
  return outcome;
}

/// The fastest of what fits: for some price of a byte the cheapest cut in time and bytes just does (a
/// Lagrange multiplier, found by bisection), but only cuts on the convex hull have such a price, so that a
/// fixed policy may still be better.
FailureOr<SelectResidualsPass::Choice> SelectResidualsPass::fitLimit() {
  // From a price at which nothing is run again to one at which nothing is held that can be.
  double low = 1e-18, high = 1e-3;
  SmallVector<Choice> candidates = {{RecomputePolicy::Auto, low}};
  if (limit < 0)
    return candidates.front();
  // Also finds graphs that cannot be differentiated, such as layers that call themselves.
  if (failed(choose(candidates.front(), [](JointFunction &, const DenseSet<Value> &) {})))
    return failure();
  countRuns();
  candidates.push_back({RecomputePolicy::None});
  candidates.push_back({RecomputePolicy::Selective});
  candidates.push_back({RecomputePolicy::Full});
  candidates.push_back({RecomputePolicy::Auto, high});
  for (int step = 0; step < 16; ++step) {
    Choice middle{RecomputePolicy::Auto, std::sqrt(low * high)};
    FailureOr<Outcome> outcome = measure(middle);
    if (failed(outcome))
      return failure();
    if (outcome->bytes <= limit)
      candidates.push_back(middle);
    (outcome->bytes <= limit ? high : low) = middle.secondsPerByte;
  }
  std::optional<Outcome> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (Choice candidate : candidates) {
    FailureOr<Outcome> outcome = measure(candidate);
    if (failed(outcome))
      return failure();
    least = std::min(least, outcome->bytes);
    if (outcome->bytes <= limit && (!best || outcome->seconds < best->seconds))
      best = *outcome;
  }
  if (best)
    return best->choice;
  return getOperation().emitError("par-select-residuals: a micro-batch saves at least ")
         << least << " bytes per rank, whatever is run again, but the limit is " << limit.getValue()
         << "; give at least that, or split the batch into more micro-batches";
}

void SelectResidualsPass::countRuns() {
  timesRun.clear();
  for (func::FuncOp function : ChunkFunctions(getOperation()).getAll(Phase::Forward))
    countRuns(function);
}

/// How often a micro-batch runs each function, through calls of calls.
void SelectResidualsPass::countRuns(func::FuncOp function) {
  ++timesRun[function.getName()];
  for (auto call : function.getOps<CallOp>())
    if (auto callee = getOperation().lookupSymbol<func::FuncOp>(call.getCallee()))
      countRuns(callee);
}

void SelectResidualsPass::runOnOperation() {
  ModuleOp module = getOperation();
  std::optional<RecomputePolicy> policy = parseRecomputePolicy(recompute);
  if (!policy) {
    module.emitError("par-select-residuals: recompute=")
        << recompute << " is unknown, expected none, selective, full or auto";
    return signalPassFailure();
  }
  target = getTarget(module);
  if (!target)
    return signalPassFailure();
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    clearMarks(function);
  lossLayers = findLossLayers(module);
  FailureOr<Choice> choice = Choice{*policy};
  if (policy == RecomputePolicy::Auto)
    choice = fitLimit();
  if (failed(choice))
    return signalPassFailure();
  auto write = [&](JointFunction &joint, const DenseSet<Value> &saved) {
    mark(module.lookupSymbol<func::FuncOp>(joint.info.function.getName()), joint, saved);
  };
  if (failed(choose(*choice, write)))
    signalPassFailure();
}
