//===- MemoryLimit.cpp - plans that do not fit, and what would ------------------------------------------===//
#include "MemoryLimit.h"
#include "par/Support/Bytes.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir::par;

namespace {
/// Flags that would be given instead, and how.
struct Change {
  std::string flags;
  std::function<void(CompileOptions &)> apply;
  CompileOptions options; ///< with them
};

/// What a user can change, in the order of what it costs: collectives that overlap with nothing cost time
/// where links are slow, micro-batches cost nothing but launches, ZeRO-1 and sequence parallelism send the
/// same bytes, ZeRO-2 and 3 send more, recomputing computes more, offloading copies state to the host and
/// back, and tensor parallelism takes more devices. The steps of one lever go from mild to strong.
class Levers {
public:
  Levers(const CompileOptions &options, int64_t batch) : batch(batch) {
    llvm::StringRef model(options.model);
    isGraph = model.ends_with(".mlir") || model.ends_with(".mlirbc");
  }

  using Lever = std::vector<Change> (Levers::*)(const CompileOptions &) const;
  static llvm::ArrayRef<Lever> list() {
    static const Lever levers[] = {&Levers::keepBlocking,  &Levers::splitBatch, &Levers::shardState,
                                   &Levers::splitSequence, &Levers::recompute,  &Levers::moveState,
                                   &Levers::splitTensors};
    return levers;
  }

  std::vector<Change> keepBlocking(const CompileOptions &from) const {
    std::vector<Change> changes;
    if (from.isOverlapped())
      add(changes, from, "--overlap off", [](CompileOptions &options) {
        options.overlap = "off";
        options.prefetchLimit = options.bucketBytes = std::nullopt;
      });
    return changes;
  }

  std::vector<Change> splitBatch(const CompileOptions &from) const {
    std::vector<Change> changes;
    int64_t dp = countDataRanks(from.axes);
    for (int64_t parts = from.microBatches * 2; !isGraph && batch % (dp * parts) == 0; parts *= 2)
      add(changes, from, "--micro-batches " + std::to_string(parts),
          [parts](CompileOptions &options) { options.microBatches = parts; });
    return changes;
  }

  std::vector<Change> shardState(const CompileOptions &from) const {
    std::vector<Change> changes;
    for (int64_t stage = from.getZero() + 1; countDataRanks(from.axes) > 1 && stage <= 3; ++stage)
      add(changes, from, "--zero " + std::to_string(stage),
          [stage](CompileOptions &options) { options.zero = std::to_string(stage); });
    return changes;
  }

  std::vector<Change> splitSequence(const CompileOptions &from) const {
    std::vector<Change> changes;
    if (from.getAxis("tp") > 1 && !from.sequenceParallel)
      add(changes, from, "--sequence-parallel",
          [](CompileOptions &options) { options.sequenceParallel = true; });
    return changes;
  }

  std::vector<Change> moveState(const CompileOptions &from) const {
    std::vector<Change> changes;
    if (from.offload == "none")
      add(changes, from, "--offload optimizer",
          [](CompileOptions &options) { options.offload = "optimizer"; });
    if (from.offload != "optimizer:host-update")
      add(changes, from, "--offload optimizer:host-update",
          [](CompileOptions &options) { options.offload = "optimizer:host-update"; });
    return changes;
  }

  std::vector<Change> recompute(const CompileOptions &from) const {
    std::vector<Change> changes;
    // `auto` has sought its own limit already.
    for (const char *policy : {"selective", "full"})
      if (from.recompute == "none" || (from.recompute == "selective" && policy == llvm::StringRef("full")))
        add(changes, from, std::string("--recompute ") + policy,
            [policy](CompileOptions &options) { options.recompute = policy; });
    return changes;
  }

  std::vector<Change> splitTensors(const CompileOptions &from) const {
    std::vector<Change> changes;
    for (int64_t tp = from.getAxis("tp") * 2; tp <= 16; tp *= 2) {
      std::string mesh;
      for (auto &[axis, size] : from.axes)
        if (size > 1 && axis != "tp")
          mesh += axis + "=" + std::to_string(size) + ",";
      mesh += "tp=" + std::to_string(tp);
      add(changes, from, "--mesh " + mesh, [mesh](CompileOptions &options) { options.mesh = mesh; });
    }
    return changes;
  }

private:
  void add(std::vector<Change> &changes, const CompileOptions &from, std::string flags,
           std::function<void(CompileOptions &)> apply) const {
    Change change{std::move(flags), std::move(apply), from};
    change.options.batch = isGraph ? from.batch : std::optional<int64_t>(batch);
    change.apply(change.options);
    if (llvm::Error error = checkOptions(change.options))
      llvm::consumeError(std::move(error));
    else
      changes.push_back(std::move(change));
  }

  int64_t batch;
  bool isGraph;
};
} // namespace

static std::string describe(llvm::StringRef flags, int64_t peak) {
  return (flags + " (" + formatBytes(peak) + ")").str();
}

/// Of every lever the mildest step that fits.
static std::vector<std::string> findSingleChanges(const CompileOptions &options, const Levers &levers,
                                                  PlanOther plan) {
  std::vector<std::string> found;
  for (Levers::Lever lever : Levers::list())
    for (const Change &change : (levers.*lever)(options))
      if (std::optional<PlanSize> size = plan(change.options); size && size->peak <= options.memoryLimit) {
        found.push_back(describe(change.flags, size->peak));
        break;
      }
  return found;
}

namespace {
/// Several changes at once.
struct Combination {
  std::vector<Change> changes;
  int64_t peak = 0;
  bool fits = false;

  std::string describe() const {
    std::string flags;
    for (const Change &change : changes)
      flags += (flags.empty() ? "" : " ") + change.flags;
    return flags.empty() ? "" : ::describe(flags, peak);
  }
};
} // namespace

/// What is not needed any more since stronger levers came to it, the dearest first.
static void leaveOut(Combination &combination, const CompileOptions &options, PlanOther plan) {
  for (size_t number = combination.changes.size(); number-- > 0;) {
    CompileOptions without = options;
    without.batch = combination.changes[number].options.batch;
    for (size_t other = 0; other < combination.changes.size(); ++other)
      if (other != number)
        combination.changes[other].apply(without);
    if (llvm::Error error = checkOptions(without)) {
      llvm::consumeError(std::move(error));
      continue;
    }
    std::optional<PlanSize> size = plan(without);
    if (!size || size->peak > options.memoryLimit)
      continue;
    combination.peak = size->peak;
    combination.changes.erase(combination.changes.begin() + static_cast<int64_t>(number));
  }
}

/// Levers one after the other, each as strong as it helps, until it fits; else what is the least.
static Combination findCombination(const CompileOptions &options, int64_t needed, const Levers &levers,
                                   PlanOther plan) {
  Combination combination{{}, needed};
  CompileOptions current = options;
  for (Levers::Lever lever : Levers::list()) {
    std::optional<Change> chosen;
    for (const Change &change : (levers.*lever)(current)) {
      std::optional<PlanSize> size = plan(change.options);
      if (!size || size->peak >= combination.peak)
        continue;
      combination.peak = size->peak;
      chosen = change;
      combination.fits = size->peak <= options.memoryLimit;
      if (combination.fits)
        break;
    }
    if (!chosen)
      continue;
    current = chosen->options;
    combination.changes.push_back(std::move(*chosen));
    if (combination.fits) {
      leaveOut(combination, options, plan);
      break;
    }
  }
  return combination;
}

/// Everything that a lever changes.
static std::string getKey(const CompileOptions &options) {
  return llvm::join(llvm::ArrayRef<std::string>{options.mesh, std::to_string(options.microBatches),
                                                options.zero, options.recompute, options.offload,
                                                options.overlap, options.sequenceParallel ? "sequence" : ""},
                    " ");
}

static std::string findRemedy(const CompileOptions &options, int64_t needed, int64_t batch,
                              PlanOther planAnew) {
  // A graph that is annotated already keeps what it has.
  if (!options.from.empty() && options.from != "import")
    return "compile the model again with a plan that needs less";
  // Changes of one lever are tried alone, then with others.
  std::map<std::string, std::optional<PlanSize>> known;
  auto plan = [&](const CompileOptions &other) {
    auto [entry, isNew] = known.try_emplace(getKey(other));
    if (isNew)
      entry->second = planAnew(other);
    return entry->second;
  };
  Levers levers(options, batch);
  std::vector<std::string> single = findSingleChanges(options, levers, plan);
  if (!single.empty())
    return "it fits with " + llvm::join(single, ", or with ");
  Combination combination = findCombination(options, needed, levers, plan);
  if (combination.fits)
    return "it fits with " + combination.describe();
  return combination.changes.empty()
             ? "no flag that was tried makes it smaller; take a smaller --batch or --seq"
             : "the least that was found is " + combination.describe() + "; take a smaller --batch or --seq";
}

void mlir::par::printLiveAtPeak(const MemoryProfile &profile, llvm::StringRef prefix, llvm::raw_ostream &os) {
  constexpr size_t most = 10;
  std::vector<const LiveBuffer *> live = profile.getLiveAtPeak();
  os << prefix << profile.mostLive << " bytes live at the peak (" << profile.points[profile.fullest] << "):";
  for (unsigned category = 0; category < MemoryProfile::kCategories; ++category)
    os << " " << rank::stringifyCategory(static_cast<rank::Category>(category)) << " "
       << profile.live[profile.fullest][category];
  os << "\n";
  for (const LiveBuffer *buffer : llvm::ArrayRef(live).take_front(most))
    os << prefix << buffer->bytes << " bytes " << rank::stringifyCategory(buffer->category) << ": "
       << buffer->name << (buffer->type.empty() ? "" : " " + buffer->type) << "\n";
  if (live.size() > most)
    os << prefix << live.size() - most << " smaller ones\n";
}

void mlir::par::printTooLarge(const CompileOptions &options, const MemoryProfile &profile, int64_t batch,
                              PlanOther plan, llvm::raw_ostream &os) {
  int64_t needed = profile.peakBytes;
  // First: the plans that it tries are shown on a terminal, and the error is one line.
  std::string remedy = findRemedy(options, needed, batch, plan);
  os << "error: " << options.model << ": --memory-limit " << options.memoryLimitText << ": a rank needs "
     << needed << " bytes (" << formatBytes(needed) << "), " << needed - options.memoryLimit
     << " more than the limit; " << remedy << "\n";
  printLiveAtPeak(profile, "note: ", os);
}
