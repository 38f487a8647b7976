//===- MemoryLimit.cpp - plans that do not fit, and what would ------------------------------------------===//
#include "MemoryLimit.h"
#include "par/Compile/PlanFlags.h"
#include "par/Emit/FoldedMemory.h"
#include "par/Support/Bytes.h"
#include "par/Support/ErrorLine.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::par;

namespace {
/// A step of a lever, on any plan.
using Change = std::function<void(Plan &)>;
using Changes = std::vector<Change>;

/// What a user can change, in the order of what it costs: collectives that overlap with nothing cost time
/// where links are slow, schedules that hold fewer micro-batches have a bubble, micro-batches cost nothing
/// but launches, ZeRO-1 and sequence parallelism send the same bytes, ZeRO-2 and 3 send more, recomputing
/// computes more, offloading copies state to the host and back, and tensor parallelism and stages take more
/// devices. The steps of one lever go from mild to strong.
class Levers {
public:
  explicit Levers(bool isGraph) : isGraph(isGraph) {}

  using Lever = Changes (Levers::*)(const Plan &) const;
  static llvm::ArrayRef<Lever> list() {
    static const Lever levers[] = {&Levers::keepBlocking, &Levers::reorder,       &Levers::splitBatch,
                                   &Levers::shardState,   &Levers::splitSequence, &Levers::recompute,
                                   &Levers::moveState,    &Levers::splitTensors,  &Levers::splitLayers};
    return levers;
  }

  Changes keepBlocking(const Plan &from) const {
    if (!from.overlap)
      return {};
    return {[](Plan &plan) {
      plan.overlap = false;
      plan.prefetchLimit = std::nullopt;
    }};
  }

  /// By one chunk per stage; cuts are where it is best.
  Changes reorder(const Plan &from) const {
    Changes changes;
    if (from.countStages() == 1)
      return changes;
    for (ScheduleKind kind : {ScheduleKind::ZbH1, ScheduleKind::OneFOneB})
      if (from.schedule != kind)
        changes.push_back([kind](Plan &plan) {
          if (plan.chunks > 1)
            plan.cuts.clear();
          plan.schedule = kind;
          plan.chunks = 1;
        });
    return changes;
  }

  Changes splitBatch(const Plan &from) const {
    Changes changes;
    int64_t dp = from.countRanks(AxisRole::Batch);
    // A graph has its batch.
    for (int64_t parts = from.microBatches * 2; !isGraph && from.batch % (dp * parts) == 0; parts *= 2)
      changes.push_back([parts](Plan &plan) { plan.microBatches = parts; });
    return changes;
  }

  Changes shardState(const Plan &from) const {
    Changes changes;
    for (int64_t stage = from.zero + 1; from.countRanks(AxisRole::Batch) > 1 && stage <= 3; ++stage)
      changes.push_back([stage](Plan &plan) { plan.zero = stage; });
    return changes;
  }

  Changes splitSequence(const Plan &from) const {
    if (from.countRanks(AxisRole::Tensor) == 1 || from.sequenceParallel)
      return {};
    return {[](Plan &plan) { plan.sequenceParallel = true; }};
  }

  Changes moveState(const Plan &from) const {
    Changes changes;
    for (OffloadKind kind : {OffloadKind::DeviceUpdate, OffloadKind::HostUpdate})
      if (from.offload < kind)
        changes.push_back([kind](Plan &plan) { plan.offload = kind; });
    return changes;
  }

  Changes recompute(const Plan &from) const {
    Changes changes;
    // `auto` has sought its own limit already.
    for (RecomputeKind kind : {RecomputeKind::Selective, RecomputeKind::Full})
      if (from.recompute < kind)
        changes.push_back([kind](Plan &plan) { plan.recompute = kind; });
    return changes;
  }

  Changes splitTensors(const Plan &from) const {
    Changes changes;
    for (int64_t tp = from.countRanks(AxisRole::Tensor) * 2; tp <= 16; tp *= 2)
      changes.push_back([tp](Plan &plan) { resizeAxis(plan.mesh, getAxisName(AxisRole::Tensor), tp); });
    return changes;
  }

  /// Each stage has fewer layers, but the first one holds as many micro-batches more.
  Changes splitLayers(const Plan &from) const {
    Changes changes;
    for (int64_t pp = from.countStages() * 2; pp <= 16; pp *= 2)
      changes.push_back([pp](Plan &plan) {
        resizeAxis(plan.mesh, getAxisName(AxisRole::Pipeline), pp);
        plan.cuts.clear();
        plan.recomputeLimit.resize(std::min<size_t>(plan.recomputeLimit.size(), 1));
      });
    return changes;
  }

private:
  bool isGraph;
};
} // namespace

static std::string describe(const Plan &from, const Plan &to, int64_t peak) {
  return printDifference(from, to) + " (" + formatBytes(peak) + ")";
}

static Plan applyAll(Plan plan, llvm::ArrayRef<Change> changes) {
  for (const Change &change : changes)
    change(plan);
  return plan;
}

namespace {
/// A step of a lever and what a rank needs with it.
struct Step {
  size_t number = 0;
  int64_t peak = 0;
};
} // namespace

/// The last step with which there is a plan.
static std::optional<Step> findStrongest(const Plan &plan, const Changes &changes, PlanTrials &trials) {
  for (size_t number = changes.size(); number-- > 0;)
    if (std::optional<PlanSize> size = trials.measure(applyAll(plan, changes[number])))
      return Step{number, size->getPeak()};
  return std::nullopt;
}

/// The first step that fits; `strongest` does, and each needs less than the one before.
static Step findMildest(const Plan &plan, const Changes &changes, Step strongest, int64_t limit,
                        PlanTrials &trials) {
  size_t tooMild = 0; // steps
  while (tooMild < strongest.number) {
    size_t middle = tooMild + (strongest.number - tooMild) / 2;
    std::optional<PlanSize> size = trials.measure(applyAll(plan, changes[middle]));
    if (size && size->getPeak() <= limit)
      strongest = {middle, size->getPeak()};
    else
      tooMild = middle + 1;
  }
  return strongest;
}

/// Of every lever the mildest step that fits.
static std::vector<std::string> findSingleChanges(const Plan &plan, int64_t limit, const Levers &levers,
                                                  PlanTrials &trials) {
  std::vector<std::string> found;
  for (Levers::Lever lever : Levers::list()) {
    Changes changes = (levers.*lever)(plan);
    std::optional<Step> strongest = findStrongest(plan, changes, trials);
    if (!strongest || strongest->peak > limit)
      continue;
    Step mildest = findMildest(plan, changes, *strongest, limit, trials);
    found.push_back(describe(plan, applyAll(plan, changes[mildest.number]), mildest.peak));
  }
  return found;
}

namespace {
/// Several changes at once.
struct Combination {
  Changes changes;
  int64_t peak = 0;
  bool fits = false;
};
} // namespace

/// What is not needed any more since stronger levers came to it, the dearest first.
static void leaveOut(Combination &combination, const Plan &plan, int64_t limit, PlanTrials &trials) {
  for (size_t number = combination.changes.size(); number-- > 0;) {
    Changes others = combination.changes;
    others.erase(others.begin() + static_cast<int64_t>(number));
    std::optional<PlanSize> size = trials.measure(applyAll(plan, others));
    if (!size || size->getPeak() > limit)
      continue;
    combination.peak = size->getPeak();
    combination.changes = std::move(others);
  }
}

/// Levers one after the other, each as strong as it helps, until it fits; else what is the least.
static Combination findCombination(const Plan &plan, int64_t needed, int64_t limit, const Levers &levers,
                                   PlanTrials &trials) {
  Combination combination{{}, needed};
  for (Levers::Lever lever : Levers::list()) {
    Plan current = applyAll(plan, combination.changes);
    std::optional<Change> chosen;
    // Together with others a stronger step may need more.
    for (const Change &change : (levers.*lever)(current)) {
      std::optional<PlanSize> size = trials.measure(applyAll(current, change));
      if (!size || size->getPeak() >= combination.peak)
        continue;
      combination.peak = size->getPeak();
      chosen = change;
      combination.fits = size->getPeak() <= limit;
      if (combination.fits)
        break;
    }
    if (!chosen)
      continue;
    combination.changes.push_back(std::move(*chosen));
    if (combination.fits) {
      leaveOut(combination, plan, limit, trials);
      break;
    }
  }
  return combination;
}

static std::string findRemedy(const CompileOptions &options, int64_t needed, PlanTrials &trials) {
  // A graph that is annotated already keeps what it has.
  if (options.first != CompilePhase::Import)
    return "compile the model again with a plan that needs less";
  const Plan &plan = options.plan;
  Levers levers(options.isGraph());
  std::vector<std::string> single = findSingleChanges(plan, options.memoryLimit, levers, trials);
  if (!single.empty())
    return "it fits with " + llvm::join(single, ", or with ");
  Combination combination = findCombination(plan, needed, options.memoryLimit, levers, trials);
  if (combination.changes.empty())
    return "no flag that was tried makes it smaller; take a smaller --batch or --seq";
  std::string flags = describe(plan, applyAll(plan, combination.changes), combination.peak);
  return combination.fits ? "it fits with " + flags
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
