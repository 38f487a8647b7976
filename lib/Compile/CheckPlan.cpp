//===- CheckPlan.cpp - plans that are impossible or contradict themselves -------------------------------===//
#include "par/Compile/CheckPlan.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "par/Compile/PlanFlags.h"
#include "par/Plan/PlanJson.h"
#include "par/Register/Register.h"
#include "par/Schedule/Schedule.h"
#include "par/Support/MakeError.h"
#include "par/Target/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::par;
using llvm::Error;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::string PlanWords::name(llvm::StringRef field) const {
  if (!areFlags())
    return ("\"" + field + "\"").str();
  std::string flag;
  visitFields([&](const PlanField &known, auto &) { flag += known.name == field ? known.flag.str() : ""; },
              Plan());
  return "--" + flag;
}

std::string PlanWords::value(const Plan &plan, llvm::StringRef field) const {
  return areFlags() ? printFlag(plan, field)
                    : llvm::formatv("\"{0}\": {1}", field, toJson(plan, field)).str();
}

std::string PlanWords::drop(llvm::StringRef field) const {
  return areFlags() ? "leave it out" : llvm::formatv("set it to {0}", toJson(Plan(), field)).str();
}

Error PlanWords::error(const Twine &text) const {
  return areFlags() ? makeError(text) : makeError(file + ": " + text);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// A copy with one field changed, to name what to give.
template <typename T>
static Plan with(Plan plan, T Plan::*member, T value) {
  plan.*member = std::move(value);
  return plan;
}

/// A chip belongs to its target, which may have fields of the plan that it does not do.
static Error checkTarget(const Plan &plan, const PlanWords &words) {
  const Target &target = *findTarget(plan.target);
  auto chips = llvm::map_range(target.getChips(), [](ChipKind chip) { return getName(chip); });
  if (!llvm::is_contained(target.getChips(), plan.chip))
    return words.error(words.value(plan, "chip") + " is no chip of " + words.value(plan, "target") +
                       ", expected one of " + llvm::join(chips, ", "));
  if (plan.offload == OffloadKind::HostUpdate && target.hasDeviceProgram)
    return words.error(words.value(plan, "offload") + " computes on the host, which " +
                       words.value(plan, "target") + " has no kernels for; give " +
                       words.value(with(plan, &Plan::offload, OffloadKind::DeviceUpdate), "offload"));
  return Error::success();
}

/// Of micro-batches and sequences of a step: what is computed from them stays far below 64 bits.
static constexpr int64_t kMostMicroBatches = int64_t(1) << 30, kMostSequences = int64_t(1) << 40;

Error mlir::par::checkSizes(const Plan &plan, const PlanWords &words) {
  if (plan.microBatches < 1)
    return words.error(words.name("micro_batches") + ": " + Twine(plan.microBatches) + " must be at least 1");
  if (plan.microBatches > kMostMicroBatches)
    return words.error(words.name("micro_batches") + ": " + Twine(plan.microBatches) + " must be at most " +
                       Twine(kMostMicroBatches));
  if (plan.batch > kMostSequences)
    return words.error(words.name("batch") + ": " + Twine(plan.batch) + " must be at most " +
                       Twine(kMostSequences));
  if (plan.chunks < 1)
    return words.error(words.name("chunks") + ": " + Twine(plan.chunks) + " must be at least 1");
  if (plan.zero < 0 || plan.zero > 3)
    return words.error(words.value(plan, "zero") + " is no stage of ZeRO; give 0, 1, 2 or 3");
  for (auto &[field, value] :
       {std::pair("prefetch_limit", plan.prefetchLimit), std::pair("bucket_bytes", plan.bucketBytes)})
    if (value && *value < 0)
      return words.error(words.value(plan, field) + " is no number of bytes; " + words.drop(field));
  for (int64_t limit : plan.recomputeLimit)
    if (limit < 0)
      return words.error(words.value(plan, "recompute_limit") + " is no number of bytes; " +
                         words.drop("recompute_limit"));
  for (size_t i = 0; i < plan.cuts.size(); ++i)
    if (plan.cuts[i] <= (i ? plan.cuts[i - 1] : 0))
      return words.error(words.value(plan, "cuts") + ": the numbers of units must rise from 1 on");
  return Error::success();
}

static Error checkOverlap(const Plan &plan, const PlanWords &words) {
  if (plan.prefetchLimit && !plan.overlap)
    return words.error(words.name("prefetch_limit") + " bounds what " +
                       words.value(with(plan, &Plan::overlap, true), "overlap") + " does; give both or none");
  return Error::success();
}

/// A mesh of flags was parsed; that of a file comes as it was written.
static Error checkMesh(const Plan &plan, const PlanWords &words) {
  llvm::Expected<NamedAxes> axes = parseMeshAxes(printMesh(plan.mesh));
  if (!axes)
    return words.error(words.name("mesh") + ": " + llvm::toString(axes.takeError()));
  if (*axes != plan.mesh)
    return words.error(words.name("mesh") + ": " + printMesh(plan.mesh) + " is " + printMesh(*axes) +
                       " in the order of ranks; write that");
  return Error::success();
}

/// No strategy splits sequences over an axis of their own yet: a graph that goes there was annotated by hand.
static const std::pair<std::string, int64_t> *findUndivided(const NamedAxes &axes) {
  auto found = llvm::find_if(
      axes, [](auto &axis) { return axis.second > 1 && hasRole(axis.first, AxisRole::Sequence); });
  return found == axes.end() ? nullptr : &*found;
}

bool mlir::par::canDivide(const NamedAxes &axes) { return !findUndivided(axes); }

static Error checkDivided(const Plan &plan, const PlanWords &words) {
  if (const auto *axis = findUndivided(plan.mesh))
    return words.error(words.name("mesh") + ": " + axis->first + "=" + Twine(axis->second) +
                       " is not built yet; pp, dp and tp are");
  return Error::success();
}

/// Passes that plugins registered, or par's own.
static Error checkStrategy(const Plan &plan, const PlanWords &words) {
  if (plan.strategy.empty())
    return Error::success();
  if (!mlir::PassInfo::lookup("par-set-mesh"))
    registerPasses();
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  mlir::OpPassManager manager(mlir::ModuleOp::getOperationName());
  if (succeeded(parsePassPipeline(plan.strategy, manager, stream)))
    return Error::success();
  // Behind a place in a text that the user does not see.
  llvm::StringRef text = llvm::StringRef(problem).split("error: ").second.split('\n').first;
  return words.error(words.value(plan, "strategy") + ": " + text +
                     "; give --plugin FILE.so that has the pass");
}

/// Of one stage there is nothing to order or to cut; of several, the schedule says what it needs.
static Error checkPipeline(const Plan &plan, const PlanWords &words) {
  const Plan usual;
  std::string idle;
  visitFields(
      [&](const PlanField &field, const auto &value, const auto &alone) {
        bool isPipelines = field.phase == CompilePhase::Cut;
        if (isPipelines && plan.countStages() == 1 && value != alone && idle.empty())
          idle = words.value(plan, field.name) + " is of pipelines, but " + words.name("mesh") +
                 " has pp=1; give more stages or " + words.drop(field.name);
      },
      plan, usual);
  if (!idle.empty())
    return words.error(idle);
  if (plan.countStages() == 1)
    return Error::success();
  llvm::Expected<std::vector<int64_t>> placed =
      placeChunksOf(getName(plan.schedule), {plan.countStages(), plan.microBatches, plan.chunks});
  if (!placed)
    return words.error(words.value(plan, "schedule") + ": " + llvm::toString(placed.takeError()));
  if (size_t chunks = placed->size(); !plan.cuts.empty() && plan.cuts.size() + 1 != chunks)
    return words.error(words.value(plan, "cuts") + ": " + Twine(chunks) + " chunks begin at " +
                       Twine(chunks - 1) + " units behind the first, but " + Twine(plan.cuts.size()) +
                       (plan.cuts.size() == 1 ? " is" : " are") + " given");
  return Error::success();
}

static Error checkRecompute(const Plan &plan, const PlanWords &words, bool hasMemoryLimit) {
  bool isAuto = plan.recompute == RecomputeKind::Auto;
  std::string policy = words.value(plan, "recompute");
  if (isAuto && plan.recomputeLimit.empty() && !hasMemoryLimit)
    return words.error(policy + " seeks the least time within --memory-limit or " +
                       words.name("recompute_limit") + ", of which there is none; give one, or " +
                       words.value(with(plan, &Plan::recompute, RecomputeKind::Selective), "recompute"));
  if (size_t given = plan.recomputeLimit.size();
      given > 1 && static_cast<int64_t>(given) != plan.countStages())
    return words.error(words.value(plan, "recompute_limit") + ": " + Twine(given) + " limits for " +
                       Twine(plan.countStages()) + (plan.countStages() == 1 ? " stage" : " stages") +
                       "; give one for all, or one for each");
  if (!isAuto && !plan.recomputeLimit.empty())
    return words.error(words.name("recompute_limit") + " bounds what " +
                       words.value(with(plan, &Plan::recompute, RecomputeKind::Auto), "recompute") +
                       " saves, but " + words.name("recompute") + " is " + getName(plan.recompute) +
                       "; give " +
                       words.value(with(plan, &Plan::recompute, RecomputeKind::Auto), "recompute") + " or " +
                       words.drop("recompute_limit"));
  return Error::success();
}

static Error checkSearch(const Plan &plan, const PlanWords &words) {
  if (!plan.parameterLimit)
    return Error::success();
  if (*plan.parameterLimit < 1)
    return words.error(words.value(plan, "parameter_limit") +
                       " is no number of bytes that holds parameters; " + words.drop("parameter_limit"));
  if (!plan.shardingSearch)
    return words.error(words.name("parameter_limit") + " bounds what " +
                       words.value(with(plan, &Plan::shardingSearch, true), "sharding_search") +
                       " finds; give both or none");
  return Error::success();
}

/// Fields that mean nothing without each other.
static Error checkStrategies(const Plan &plan, const PlanWords &words) {
  if (plan.zero3Gather == GatherTime::PerStep && plan.zero != 3)
    return words.error(words.value(plan, "zero3_gather") + " says when ZeRO-3 gathers parameters, but " +
                       words.name("zero") + " is " + Twine(plan.zero) + "; give " +
                       words.value(with(plan, &Plan::zero, int64_t(3)), "zero") + " or " +
                       words.drop("zero3_gather"));
  if (plan.optimizer == OptimizerKind::Sgd && plan.momentType != FloatKind::F32)
    return words.error(words.value(plan, "moment_dtype") + " is the type of AdamW's moments, but " +
                       words.name("optimizer") + " is sgd, which has none; " + words.drop("moment_dtype"));
  return checkSearch(plan, words);
}

Error mlir::par::checkPlan(const Plan &plan, const PlanWords &words, bool hasMemoryLimit, bool isAnnotated) {
  using Check = Error (*)(const Plan &, const PlanWords &);
  for (Check check : {checkTarget, checkSizes, checkOverlap, checkMesh, checkStrategy, checkPipeline})
    if (Error error = check(plan, words))
      return error;
  if (!isAnnotated)
    if (Error error = checkDivided(plan, words))
      return error;
  if (Error error = checkRecompute(plan, words, hasMemoryLimit))
    return error;
  return checkStrategies(plan, words);
}

Error mlir::par::checkBatch(const Plan &plan, const PlanWords &words) {
  int64_t dp = plan.countRanks(AxisRole::Batch), parts = dp * plan.microBatches;
  std::string product =
      "micro-batches x dp = " + std::to_string(plan.microBatches) + " x " + std::to_string(dp);
  if (plan.batch < 1)
    return words.error(words.name("batch") + " " + Twine(plan.batch) +
                       ": a step has a sequence per micro-batch and data-parallel rank or more; give " +
                       product + ", or a multiple of it");
  if (plan.batch % parts)
    return words.error(words.name("batch") + " " + Twine(plan.batch) + " is not divisible by " + product +
                       "; choose a multiple of " + Twine(parts));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// What has no effect
//===----------------------------------------------------------------------===//

static void dropOverlap(Plan &plan) {
  plan.overlap = false;
  plan.prefetchLimit = std::nullopt;
}

std::vector<std::string> mlir::par::dropIdle(Plan &plan) {
  std::vector<std::string> idle, notes;
  bool oneRank = plan.countRanks() == 1;
  if (plan.zero != 0 && plan.countRanks(AxisRole::State) == 1) {
    idle.push_back(printFlag(plan, "zero"));
    plan.zero = 0;
    plan.zero3Gather = GatherTime::PerMicroBatch;
  }
  if (plan.sequenceParallel && plan.countRanks(AxisRole::Tensor) == 1)
    idle.push_back(printFlag(plan, "sequence_parallel")), plan.sequenceParallel = false;
  if (plan.shardingSearch && plan.countRanks(AxisRole::Tensor) == 1) {
    idle.push_back(printFlag(plan, "sharding_search"));
    plan.shardingSearch = false;
    plan.parameterLimit = std::nullopt;
  }
  if (plan.overlap && oneRank && plan.offload == OffloadKind::None) {
    idle.push_back(printFlag(plan, "overlap"));
    dropOverlap(plan);
  }
  if (plan.bucketBytes && oneRank)
    idle.push_back(printFlag(plan, "bucket_bytes")), plan.bucketBytes = std::nullopt;
  if (!idle.empty())
    notes.push_back(llvm::join(idle, ", ") + ": no effect on --mesh " + printMesh(plan.mesh));
  // Masters are kept for bf16 parameters, moments for AdamW. Whoever compares optimizers gives both the same
  // flags, so a note has to do.
  bool hasState = plan.optimizer != OptimizerKind::Sgd || plan.dtype == FloatKind::BF16;
  if (plan.offload != OffloadKind::None && !hasState) {
    notes.push_back("--offload " + getName(plan.offload).str() +
                    ": no effect, as --optimizer sgd with f32 parameters has neither moments nor masters");
    plan.offload = OffloadKind::None;
    if (oneRank)
      dropOverlap(plan);
  }
  return notes;
}
