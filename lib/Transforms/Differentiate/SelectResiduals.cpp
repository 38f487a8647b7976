//===- SelectResiduals.cpp - chooses which forward values are saved for the backward pass ---------------===//
#include "Differentiator.h"
#include "RecomputePolicy.h"
#include "par/Dialect/Par/IR/CallGraph.h"
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
    bool operator<(const Choice &other) const {
      return std::tie(policy, secondsPerByte) < std::tie(other.policy, other.secondsPerByte);
    }
    bool operator==(const Choice &other) const { return !(*this < other || other < *this); }
  };
  using Chooser = function_ref<Choice(func::FuncOp)>;
  /// What the chunks of a stage save per micro-batch, and the modelled time of what they run again.
  struct Outcome {
    int64_t bytes = 0;
    double seconds = 0;
    bool operator==(const Outcome &other) const { return bytes == other.bytes && seconds == other.seconds; }
  };
  using Outcomes = std::map<int64_t, Outcome>; ///< by stage
  LogicalResult choose(Chooser chooser, Observer observe);
  FailureOr<Outcomes> measure(Choice choice);
  int64_t countHeld(JointFunction &joint, ArrayRef<Value> residuals);
  bool endsInLoss(Operation *call) const;
  FailureOr<Choice> fitLimit(int64_t stage);
  LogicalResult fitLimits();
  void separate();
  void countRuns();
  Choice getChoice(func::FuncOp function) const;

  void mark(func::FuncOp function, JointFunction &joint, const DenseSet<Value> &saved);
  void markOp(Operation *op, Operation *clone, const DenseSet<Value> &saved);

  const Target *target = nullptr;
  llvm::StringSet<> lossLayers;
  std::map<int64_t, llvm::StringMap<int64_t>> timesRun; ///< by stage and function
  std::map<Choice, Outcomes> measured;
  std::map<int64_t, Choice> choices;    ///< by stage
  llvm::StringMap<Choice> layerChoices; ///< by function that is no chunk
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
  OpCost cost = estimateCost(op, target->rates);
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
LogicalResult SelectResidualsPass::choose(Chooser chooser, Observer observe) {
  OwningOpRef<ModuleOp> scratch(cast<ModuleOp>(getOperation()->clone()));
  auto cut = [&](JointFunction &joint) {
    bool isLast = lossLayers.contains(joint.info.function.getName());
    Choice choice = chooser(joint.info.function);
    DenseSet<Value> saved =
        chooseMinimumCut(joint, getRecomputeCost(joint, isLast ? RecomputePolicy::Hold : choice.policy,
                                                 choice.secondsPerByte, *target));
    observe(joint, saved);
    return saved;
  };
  return differentiateModule(*scratch, /*split=*/false, Float32Type::get(&getContext()), cut);
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

/// With the same choice for all functions.
FailureOr<SelectResidualsPass::Outcomes> SelectResidualsPass::measure(Choice choice) {
  if (auto known = measured.find(choice); known != measured.end())
    return known->second;
  Outcomes outcomes;
  auto add = [&](JointFunction &joint, const DenseSet<Value> &saved) {
    RerunTimes times(joint, *target);
    double seconds = 0;
    for (Operation *op : collectRunAgain(joint, saved))
      seconds += times.get(op);
    for (auto &[stage, runs] : timesRun)
      outcomes[stage].seconds += seconds * static_cast<double>(runs.lookup(joint.info.function.getName()));
    if (!joint.info.isChunk)
      return;
    if (FailureOr<SavePlan> plan = SavePlan::create(joint, saved); succeeded(plan))
      outcomes[getStage(joint.info.function)].bytes += countHeld(joint, plan->getResiduals());
  };
  if (failed(choose([&](func::FuncOp) { return choice; }, add)))
    return failure();
  return measured[choice] = outcomes;
}

/// The fastest of what fits: for some price of a byte the cheapest cut in time and bytes just does (a
/// Lagrange multiplier, found by bisection), but only cuts on the convex hull have such a price, so that a
/// fixed policy may still be better.
FailureOr<SelectResidualsPass::Choice> SelectResidualsPass::fitLimit(int64_t stage) {
  int64_t bound = limit.size() == 1 ? limit.front() : limit[static_cast<size_t>(stage)];
  // From a price at which nothing is run again to one at which nothing is held that can be.
  double low = 1e-18, high = 1e-3;
  SmallVector<Choice> candidates = {{RecomputePolicy::Auto, low},
                                    {RecomputePolicy::None},
                                    {RecomputePolicy::Selective},
                                    {RecomputePolicy::Full},
                                    {RecomputePolicy::Auto, high}};
  for (int step = 0; step < 16; ++step) {
    Choice middle{RecomputePolicy::Auto, std::sqrt(low * high)};
    FailureOr<Outcomes> outcomes = measure(middle);
    if (failed(outcomes))
      return failure();
    bool fits = outcomes->at(stage).bytes <= bound;
    if (fits)
      candidates.push_back(middle);
    (fits ? high : low) = middle.secondsPerByte;
  }
  std::optional<Choice> best;
  double fastest = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (Choice candidate : candidates) {
    FailureOr<Outcomes> outcomes = measure(candidate);
    if (failed(outcomes))
      return failure();
    Outcome outcome = outcomes->at(stage);
    least = std::min(least, outcome.bytes);
    if (outcome.bytes <= bound && (!best || outcome.seconds < fastest)) {
      best = candidate;
      fastest = outcome.seconds;
    }
  }
  if (best)
    return *best;
  InFlightDiagnostic error = getOperation().emitError("par-select-residuals: a micro-batch saves at least ")
                             << least << " bytes per rank";
  if (timesRun.size() > 1)
    error << " of stage " << stage;
  return error << ", whatever is run again, but the limit is " << bound
               << "; give at least that, or split the batch into more micro-batches";
}

/// Every stage decides by its own limit. Where a stage before it has a choice by which it fares no otherwise,
/// it takes that one, so that both share their layers.
LogicalResult SelectResidualsPass::fitLimits() {
  // Also finds graphs that cannot be differentiated, such as layers that call themselves.
  Choice first{RecomputePolicy::Auto, 1e-18};
  if (failed(choose([&](func::FuncOp) { return first; }, [](JointFunction &, const DenseSet<Value> &) {})))
    return failure();
  countRuns();
  int64_t stages = timesRun.rbegin()->first + 1;
  if (limit.size() > 1 && static_cast<int64_t>(limit.size()) != stages)
    return getOperation().emitError("par-select-residuals: ")
           << limit.size() << " limits, but the module has " << stages << " stages";
  for (auto &[stage, runs] : timesRun) {
    FailureOr<Choice> choice = fitLimit(stage);
    if (failed(choice))
      return failure();
    Outcome outcome = measured[*choice][stage];
    for (auto &[other, taken] : choices)
      if (measured[taken][stage] == outcome) {
        choice = taken;
        break;
      }
    choices[stage] = *choice;
  }
  separate();
  return success();
}

/// A layer that stages of unequal choices call becomes a function for each choice.
void SelectResidualsPass::separate() {
  SymbolTable symbols(getOperation());
  std::map<Choice, int64_t> firstStage;
  for (auto &[stage, choice] : choices)
    firstStage.try_emplace(choice, stage);
  std::map<std::pair<std::string, Choice>, std::string> names;
  llvm::StringMap<Choice> owner; // of a layer: the choice that was first to call it
  std::function<void(func::FuncOp, Choice)> visit = [&](func::FuncOp function, Choice choice) {
    function.walk([&](CallOp call) {
      std::string callee = call.getCallee().str();
      auto layer = symbols.lookup<func::FuncOp>(callee);
      auto [name, isNew] = names.try_emplace({callee, choice}, callee);
      if (isNew && !(owner.try_emplace(callee, choice).first->second == choice)) {
        layer = layer.clone();
        layer.setName(callee + ".of_stage" + std::to_string(firstStage[choice]));
        symbols.insert(layer, std::next(Block::iterator(symbols.lookup(callee))));
        name->second = layer.getName().str();
        owner.try_emplace(layer.getName(), choice);
        names.try_emplace({name->second, choice}, name->second);
      }
      if (isNew)
        visit(layer, choice);
      call.setCallee(name->second);
    });
  };
  for (func::FuncOp function : ChunkFunctions(getOperation()).getAll(Phase::Forward))
    visit(function, choices[getStage(function)]);
  // By name, in the copy that is differentiated too.
  layerChoices = std::move(owner);
}

SelectResidualsPass::Choice SelectResidualsPass::getChoice(func::FuncOp function) const {
  if (auto layer = layerChoices.find(function.getName()); layer != layerChoices.end())
    return layer->second;
  return choices.at(getStage(function));
}

/// How often a micro-batch runs each function, through calls of calls.
void SelectResidualsPass::countRuns() {
  std::map<int64_t, SmallVector<func::FuncOp>> chunks;
  for (func::FuncOp function : ChunkFunctions(getOperation()).getAll(Phase::Forward))
    chunks[getStage(function)].push_back(function);
  SymbolTable symbols(getOperation());
  for (auto &[stage, functions] : chunks)
    timesRun[stage] = par::countRuns<CallOp, func::FuncOp>(symbols, functions);
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
  timesRun.clear();
  measured.clear();
  choices.clear();
  layerChoices.clear();
  lossLayers = findLossLayers(module);
  if (policy == RecomputePolicy::Auto && !limit.empty()) {
    if (failed(fitLimits()))
      return signalPassFailure();
    lossLayers = findLossLayers(module);
  }
  Choice usual{*policy, /*secondsPerByte=*/1e-18};
  auto chooser = [&](func::FuncOp function) { return choices.empty() ? usual : getChoice(function); };
  auto write = [&](JointFunction &joint, const DenseSet<Value> &saved) {
    mark(module.lookupSymbol<func::FuncOp>(joint.info.function.getName()), joint, saved);
  };
  if (failed(choose(chooser, write)))
    signalPassFailure();
}
