//===- PlanTrials.cpp - what a rank needs under other plans ---------------------------------------------===//
#include "par/Compile/PlanTrials.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/Driver.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Support/Bytes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include <chrono>

using namespace mlir;
using namespace mlir::par;

Plan par::restrictTo(const Plan &plan, CompilePhase phase) {
  Plan restricted;
  visitFields(
      [&](const PlanField &field, auto &target, const auto &value) {
        if (field.phase <= phase)
          target = value;
      },
      restricted, plan);
  // Up to there the graph is one micro-batch, of however many.
  if (phase < CompilePhase::Overlap) {
    restricted.batch = plan.getGraphBatch();
    restricted.microBatches = 1;
  }
  return restricted;
}

static CompilePhase next(CompilePhase phase) {
  return static_cast<CompilePhase>(static_cast<int>(phase) + 1);
}

/// What is only measured is not checked: it takes a third of the time, and what is compiled in the end is.
/// Nor does it evaluate: that has a schedule of its own, on which the peak of a step does not depend.
static constexpr PhaseOptions kMeasured{/*explain=*/false, /*collectives=*/false, /*origins=*/false,
                                        /*verify=*/false, /*evaluation=*/false};

/// After these phases modules are kept: what plans differ in is decided in those between them.
static constexpr CompilePhase kShared[] = {CompilePhase::Import, CompilePhase::Propagate,
                                           CompilePhase::Partition};

ModuleOp PlanTrials::getShared(llvm::ArrayRef<CompilePhase> phases, const Plan &plan) {
  // What is begun with behind a phase is what `import` gives.
  while (phases.size() > 1 && phases.back() < first)
    phases = phases.drop_back();
  auto [entry, isNew] = modules.try_emplace({phases.back(), restrictTo(plan, phases.back())});
  if (isNew)
    entry->second = makeShared(phases, plan);
  return entry->second.get();
}

OwningOpRef<ModuleOp> PlanTrials::makeShared(llvm::ArrayRef<CompilePhase> phases, const Plan &plan) {
  if (phases.size() == 1)
    return import(plan);
  ModuleOp before = getShared(phases.drop_back(), plan);
  if (!before)
    return nullptr;
  OwningOpRef<ModuleOp> module(before.clone());
  CompilePhase begin = std::max(first, next(phases.drop_back().back()));
  bool done = succeeded(Driver(plan, kMeasured).run(*module, begin, phases.back()));
  return done ? std::move(module) : nullptr;
}

static int64_t findMost(ArrayRef<StageSize> stages, int64_t StageSize::*bytes) {
  int64_t most = 0;
  for (const StageSize &stage : stages)
    most = std::max(most, stage.*bytes);
  return most;
}

int64_t PlanSize::getPeak() const { return findMost(stages, &StageSize::peak); }
int64_t PlanSize::getHostPeak() const { return findMost(stages, &StageSize::host); }

static StageSize measureStage(rank::ScheduleOp train) {
  StageSize size;
  size.peak = static_cast<int64_t>(train.getPeakBytes().value_or(0));
  size.host = static_cast<int64_t>(train.getHostPeakBytes().value_or(0));
  if (DictionaryAttr arena = train.getArenaBytesAttr())
    if (auto saved = arena.getAs<IntegerAttr>(rank::stringifyCategory(rank::Category::Activations)))
      size.saved = saved.getInt();
  return size;
}

PlanSize PlanSize::measure(ModuleOp module) {
  PlanSize size;
  for (rank::ScheduleOp train : rank::findSchedules(module, rank::Purpose::Train))
    size.stages.push_back(measureStage(train));
  return size;
}

OwningOpRef<ModuleOp> PlanTrials::lower(const Plan &plan) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  ModuleOp shared = getShared(kShared, plan);
  if (!shared)
    return nullptr;
  OwningOpRef<ModuleOp> module(shared.clone());
  if (failed(Driver(plan, kMeasured)
                 .run(*module, std::max(first, next(CompilePhase::Partition)), CompilePhase::Lower)))
    return nullptr;
  return module;
}

std::vector<UnitCost> PlanTrials::measureUnits(const Plan &plan) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  ModuleOp module = getShared({CompilePhase::Import, CompilePhase::Propagate}, plan);
  if (!module)
    return {};
  FailureOr<std::vector<UnitCost>> units = par::measureUnits(module);
  return succeeded(units) ? *units : std::vector<UnitCost>();
}

/// Without what has no effect; nothing if the plan contradicts itself.
static std::optional<Plan> settle(Plan plan) {
  llvm::Error error = checkPlan(plan, PlanWords(), /*hasMemoryLimit=*/true);
  if (!error)
    error = checkBatch(plan, PlanWords());
  if (error) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  dropIdle(plan);
  return plan;
}

OwningOpRef<ModuleOp> PlanTrials::compile(const Plan &asked) {
  std::optional<Plan> plan = settle(asked);
  return plan ? lower(*plan) : nullptr;
}

std::optional<PlanSize> PlanTrials::measure(const Plan &asked) {
  std::optional<Plan> plan = settle(asked);
  if (!plan)
    return std::nullopt;
  auto [entry, isNew] = sizes.try_emplace(*plan);
  if (!isNew)
    return entry->second;
  auto start = std::chrono::steady_clock::now();
  if (OwningOpRef<ModuleOp> module = lower(*plan))
    entry->second = PlanSize::measure(*module);
  if (llvm::sys::Process::StandardErrIsDisplayed()) {
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    llvm::errs() << llvm::format("another plan   %6.2f s  ", seconds.count())
                 << (entry->second ? formatBytes(entry->second->getPeak()) : "none") << "\n";
  }
  return entry->second;
}
