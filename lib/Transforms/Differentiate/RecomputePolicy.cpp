//===- RecomputePolicy.cpp - which ops the backward pass runs again -------------------------------------===//
#include "RecomputePolicy.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::par;

std::optional<RecomputePolicy> par::parseRecomputePolicy(StringRef name) {
  return llvm::StringSwitch<std::optional<RecomputePolicy>>(name)
      .Case("none", RecomputePolicy::None)
      .Case("selective", RecomputePolicy::Selective)
      .Case("full", RecomputePolicy::Full)
      .Case("auto", RecomputePolicy::Auto)
      .Default(std::nullopt);
}

/// True if nothing but the function's loss follows from `call`.
static bool leadsToLossAlone(CallOp call, func::FuncOp chunk) {
  return llvm::all_of(call->getUses(), [&](OpOperand &use) {
    if (!isa<func::ReturnOp>(use.getOwner()))
      return false;
    return isLoss(chunk, use.getOperandNumber());
  });
}

llvm::StringSet<> par::findLossLayers(ModuleOp module) {
  llvm::StringSet<> last, others;
  for (auto function : module.getOps<func::FuncOp>()) {
    PhaseAttr phase = getPhase(function);
    if (phase && phase.getPhase() != Phase::Forward)
      continue;
    function.walk([&](CallOp call) {
      (phase && leadsToLossAlone(call, function) ? last : others).insert(call.getCallee());
    });
  }
  for (auto &entry : others)
    last.erase(entry.getKey());
  return last;
}

/// No call: what a callee saves is not to be had without running all of it. Nor what was chosen once.
static bool mayRunAgain(Operation *op) { return mayComputeAgain(op) && !isa<CallOp>(op); }

/// True for products with parameters and lookups in them: sums over a factor with an operand that the
/// backward pass has at no cost. Sums over values of the micro-batch alone are what attention is made of.
static bool contractsParameter(Operation *op, const DenseSet<Value> &free) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || llvm::none_of(op->getOperands(), [&](Value operand) {
        return free.contains(operand) && isFloatTensor(operand.getType());
      }))
    return false;
  RuleAttr rule = ruled.getShardingRule();
  for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
    for (unsigned result = 0; result < op->getNumResults(); ++result)
      if (rule.isPending(result, factor))
        return true;
  return false;
}

/// A constraint that only gathers: what it is given is a part of what it returns.
static bool isGather(Operation *op, const Target &target) {
  return isa<ConstrainOp>(op) && estimateCost(op, target.rates).gathered > 0;
}

static bool mayRunUnderNone(Operation *op, const Target &target) {
  return isCheapToRecompute(op) || isGather(op, target);
}

/// Not what sums over ranks, nor constraints, at which such sums are completed.
static bool mayRunUnderSelective(Operation *op, const DenseSet<Value> &free, const Target &target) {
  if (mayRunUnderNone(op, target))
    return true;
  return mayRunAgain(op) && !isa<ConstrainOp>(op) && !contractsParameter(op, free) &&
         estimateCost(op, target.rates).summed == 0;
}

/// Gives parts of its operand, or the same in another shape: products find them where the operand lies.
static bool isView(Operation *op) {
  OpClass opClass = getOpClass(op);
  return opClass == OpClass::View || opClass == OpClass::Slices || opClass == OpClass::Permutes;
}

RerunTimes::RerunTimes(JointFunction &joint, const Target &target) : target(target) {
  for (Operation *reader : joint.getBackwardOps()) {
    OpClass opClass = getOpClass(reader);
    if (opClass != OpClass::Contraction && opClass != OpClass::Library)
      continue;
    for (Value operand : reader->getOperands()) {
      Operation *op = operand.getDefiningOp();
      while (op && isView(op))
        op = op->getOperand(0).getDefiningOp();
      bool isConstant = op && op->getNumOperands() == 0; // positions
      if (op && !isConstant && joint.forwardOps.contains(op) && isCheapToRecompute(op))
        written.insert(op);
    }
  }
}

double RerunTimes::get(Operation *op) const {
  if (!isCheapToRecompute(op))
    return getSeconds(estimateCost(op, target.rates), target.rates);
  if (!written.contains(op))
    return 0;
  int64_t bytes = 0;
  for (Value result : op->getResults())
    bytes += getLocalBytes(result);
  return 2 * static_cast<double>(bytes) / target.rates.memory;
}

RecomputeCost par::getRecomputeCost(JointFunction &joint, RecomputePolicy policy, double secondsPerByte,
                                    const Target &target) {
  auto allow = [](std::function<bool(Operation *)> may) {
    return
        [may = std::move(may)](Operation *op) { return may(op) ? std::optional<double>(0) : std::nullopt; };
  };
  bool callsLayers = !joint.getBody().getOps<CallOp>().empty();
  if (policy == RecomputePolicy::Full && joint.info.isChunk && callsLayers)
    policy = RecomputePolicy::Selective;
  switch (policy) {
  case RecomputePolicy::Hold:
    return allow(isCheapToRecompute);
  case RecomputePolicy::None:
    return allow([&target](Operation *op) { return mayRunUnderNone(op, target); });
  case RecomputePolicy::Selective:
    return allow([free = collectFree(joint.getBody(), joint.info.free), &target](Operation *op) {
      return mayRunUnderSelective(op, free, target);
    });
  case RecomputePolicy::Full:
    return allow(mayRunAgain);
  case RecomputePolicy::Auto:
    break;
  }
  return [secondsPerByte, times = RerunTimes(joint, target)](Operation *op) -> std::optional<double> {
    if (!isCheapToRecompute(op) && !mayRunAgain(op))
      return std::nullopt;
    return times.get(op) / secondsPerByte;
  };
}
