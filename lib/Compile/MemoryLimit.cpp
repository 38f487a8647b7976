//===- MemoryLimit.cpp - plans under a limit of memory --------------------------------------------------===//
#include "MemoryLimit.h"
#include "CutLimit.h"
#include "par/Compile/PlanFit.h"
#include "par/Compile/PlanFlags.h"
#include "par/Emit/FoldedMemory.h"
#include "par/Support/Bytes.h"
#include "par/Support/ErrorLine.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::par;

static PlanFit makeFit(const CompileOptions &options, PlanTrials &trials) {
  auto measure = [&trials](const Plan &other) { return trials.measure(other); };
  auto isFixed = [isGraph = options.isGraph()](llvm::StringRef lever) {
    return isGraph && lever == "micro_batches"; // a graph has its batch
  };
  return {options.plan, options.memoryLimit, measure, isFixed};
}

void mlir::par::decideForLimit(CompileOptions &options, PlanTrials &trials) {
  Plan &plan = options.plan;
  if (plan.recompute == RecomputeKind::Auto) {
    if (plan.recomputeLimit.empty() && options.first <= CompilePhase::Differentiate)
      plan.recomputeLimit = makeFit(options, trials).findRecomputeLimit();
    return;
  }
  if (plan.countStages() == 1 || !plan.cuts.empty() || options.first > CompilePhase::Cut)
    return;
  plan.cuts = findFittingCuts(plan, options.memoryLimit, trials);
  if (!plan.cuts.empty())
    printNote(printFlag(plan, "cuts") + ": for --memory-limit " + options.memoryLimitText);
}

static std::string describe(const Plan &from, const MeasuredPlan &to) {
  return printDifference(from, to.plan) + " (" + formatBytes(to.peak) + ")";
}

static std::string findRemedy(const CompileOptions &options, int64_t needed, PlanTrials &trials) {
  // A graph that is annotated already keeps what it has.
  if (options.first != CompilePhase::Import)
    return "compile the model again with a plan that needs less";
  const Plan &plan = options.plan;
  auto isFixed = [&](llvm::StringRef lever) {
    return options.isGraph() && lever == "micro_batches"; // a graph has its batch
  };
  PlanFit fit(plan, options.memoryLimit, [&](const Plan &other) { return trials.measure(other); }, isFixed);
  std::vector<std::string> single;
  for (const MeasuredPlan &found : fit.findSingle())
    single.push_back(describe(plan, found));
  if (!single.empty())
    return "it fits with " + llvm::join(single, ", or with ");
  MeasuredPlan combined = fit.findCombined(needed);
  if (combined.plan == plan)
    return "no flag that was tried makes it smaller; take a smaller --batch or --seq";
  std::string flags = describe(plan, combined);
  return combined.peak <= options.memoryLimit
             ? "it fits with " + flags
             : "the least that was found is " + flags + "; take a smaller --batch or --seq";
}

void mlir::par::printLiveAtPeak(const MemoryProfile &profile, llvm::StringRef prefix, llvm::raw_ostream &os) {
  constexpr size_t most = 10;
  os << prefix << describeBytes(profile.mostLive) << " live at the peak (" << profile.points[profile.fullest]
     << "):";
  for (unsigned category = 0; category < MemoryProfile::kCategories; ++category) {
    int64_t bytes = profile.live[profile.fullest][category];
    os << " " << rank::stringifyCategory(static_cast<rank::Category>(category)) << " " << bytes << " ("
       << formatBytes(bytes) << ")";
  }
  os << "\n";
  std::vector<BufferRow> rows = foldLiveAtPeak(profile);
  int64_t restBytes = 0, restBuffers = 0;
  for (auto [number, row] : llvm::enumerate(rows)) {
    if (number >= most) {
      restBytes += row.bytes, restBuffers += row.buffers;
      continue;
    }
    os << prefix << describeBytes(row.bytes) << " " << rank::stringifyCategory(row.category) << ": "
       << row.name << (row.type.empty() ? "" : " " + row.type) << (row.buffers > 1 ? ", " + row.count() : "")
       << "\n";
  }
  if (restBuffers)
    os << prefix << describeBytes(restBytes) << ": " << restBuffers << " others\n";
}

void mlir::par::printTooLarge(const CompileOptions &options, llvm::ArrayRef<MemoryProfile> stages,
                              PlanTrials &trials, llvm::raw_ostream &os) {
  const auto *fullest = llvm::max_element(
      stages, [](const MemoryProfile &a, const MemoryProfile &b) { return a.peakBytes < b.peakBytes; });
  int64_t needed = fullest->peakBytes;
  std::string stage = stages.size() > 1 ? " of stage " + std::to_string(fullest - stages.begin()) : "";
  // First: the plans that it tries are shown on a terminal, and the error is one line.
  std::string remedy = findRemedy(options, needed, trials);
  printError(options.model + ": --memory-limit " + options.memoryLimitText + ": a rank" + stage + " needs " +
             llvm::Twine(needed) + " bytes (" + formatBytes(needed) + "), " +
             llvm::Twine(needed - options.memoryLimit) + " more than the limit; " + remedy);
  printLiveAtPeak(*fullest, "note: ", os);
}
