//===- SynthesizeSchedule.cpp - the schedule `auto` -----------------------------------------------------===//
#include "ScheduleSearch.h"
#include "par/Support/MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

using namespace llvm;
using namespace mlir::par;

namespace {
/// Greedy lists by many policies and the named schedules, and then changes of the best ones that make them
/// shorter. The same for the same problem, always: the work is limited by a count of replayed actions.
///
/// What lists cost is what the replay of their whole step says (`StepJudge`), the one by which steps are
/// verified: so lists that it refuses cost more than any others. It is slow, so a bound of it is asked first
/// (`FastReplay`).
class Search {
public:
  explicit Search(const SearchProblem &problem)
      : problem(problem), bound(problem), judge(problem),
        actions(3 * problem.getNumChunks() * problem.shape.microBatches) {}

  StageLists run() {
    offer(listOneByOne());
    tryPolicies();
    tryNamed();
    sort(found, [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
    if (found.size() > kImproved)
      found.resize(kImproved);
    for (Candidate &candidate : found)
      improve(candidate);
    return std::min_element(found.begin(), found.end(),
                            [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; })
        ->lists;
  }

private:
  static constexpr size_t kImproved = 4;
  static constexpr int64_t kReplayedActions = 24'000'000; ///< half a second or so
  static constexpr int64_t kJudged = 50;                  ///< how much longer than a bound the judge takes

  struct Candidate {
    StageLists lists;
    double cost;
  };

  void offer(StageLists lists) {
    if (lists.empty())
      return;
    keepOrder(lists);
    double least = bound.getCost(lists);
    if (!std::isfinite(least) || !offered.insert(least).second)
      return;
    double cost = judge.getCost(lists);
    if (std::isfinite(cost))
      found.push_back({std::move(lists), cost});
  }

  /// One micro-batch after the other, through all chunks and back: no stage ever waits for what another one
  /// has not begun, and none holds more than one micro-batch.
  StageLists listOneByOne() const {
    StageLists lists(size_t(problem.shape.stages));
    auto add = [&](ActionKind kind, int64_t chunk, int64_t microBatch) {
      lists[size_t(problem.getStage(chunk))].push_back({kind, chunk, microBatch});
    };
    for (int64_t microBatch = 0; microBatch < problem.shape.microBatches; ++microBatch) {
      for (int64_t chunk = 0; chunk < problem.getNumChunks(); ++chunk)
        add(ActionKind::Forward, chunk, microBatch);
      for (int64_t chunk = problem.getNumChunks(); chunk-- > 0;)
        for (ActionKind kind : {ActionKind::BackwardInput, ActionKind::BackwardWeight})
          add(kind, chunk, microBatch);
    }
    return lists;
  }

  /// Gives each chunk its micro-batches in one order, for forward and for both parts of backward. That makes
  /// no list longer and lets none hold more, for micro-batches are alike: whenever one of them is there, so
  /// is the one whose turn it is.
  void keepOrder(StageLists &lists) const {
    for (Actions &list : lists) {
      std::map<std::pair<ActionKind, int64_t>, int64_t> next;
      for (Action &action : list)
        action.microBatch = next[{action.kind, action.chunk}]++;
    }
  }

  void tryPolicies() {
    auto stages = double(problem.shape.stages);
    constexpr double unlimited = 1e18;
    constexpr int64_t all = std::numeric_limits<int64_t>::max();
    for (auto [factor, ahead] : {std::pair{1.0, 0.0},
                                 {1.0, 1.0},
                                 {1.0, 2.0},
                                 {1.0, stages / 2},
                                 {1.0, stages},
                                 {1.5, 0.0},
                                 {2.0, -1.0},
                                 {2.0, 0.0},
                                 {2.0, 1.0},
                                 {1.0, unlimited}})
      for (double patience : {0.0, 0.5, 1.0})
        for (int64_t mostWeights : {int64_t(0), int64_t(1), problem.shape.stages, all})
          for (bool forwardFirst : {false, true})
            offer(scheduleGreedily(problem, {factor, ahead, patience, mostWeights, forwardFirst}));
  }

  /// Those that deal chunks out to stages in the same way, with backward cut in two.
  void tryNamed() {
    for (StringRef name : getScheduleNames()) {
      Expected<PipelineSchedule> named = buildSchedule(name, problem.shape);
      if (!named) {
        consumeError(named.takeError());
        continue;
      }
      if (named->stageOfChunk != problem.stageOfChunk)
        continue;
      for (Actions &list : named->stages)
        list = splitBackward(list);
      offer(std::move(named->stages));
    }
  }

  static Actions splitBackward(const Actions &list) {
    Actions parts;
    for (Action action : list) {
      bool isWhole = action.kind == ActionKind::Backward;
      if (isWhole)
        action.kind = ActionKind::BackwardInput;
      parts.push_back(action);
      if (isWhole)
        parts.push_back({ActionKind::BackwardWeight, action.chunk, action.microBatch});
    }
    return parts;
  }

  //===--------------------------------------------------------------------===//
  // Changes
  //===--------------------------------------------------------------------===//

  /// Moves actions within their stages' lists, and takes back what makes the step longer; at first, worse
  /// lists are taken now and then (Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated annealing",
  /// Science 220, 1983).
  void improve(Candidate &best) {
    std::mt19937_64 random(7);
    Candidate now = best;
    int64_t allowed = kReplayedActions / int64_t(found.size()) / actions;
    double warmth = best.cost / double(problem.shape.microBatches * problem.getNumChunks());
    for (int64_t used = 0; used < allowed;) {
      double share = double(used) / double(allowed), heat = warmth * (1 - share) * (1 - share) + 1e-12;
      Actions &list = now.lists[random() % now.lists.size()];
      size_t from = random() % list.size(), to = choosePlace(from, list.size(), random);
      double chance = double(random() >> 11) * 0x1p-53;
      auto accepts = [&](double cost) {
        double worse = (cost - now.cost) / heat;
        return cost <= now.cost || (worse < 50 && chance < std::exp(-worse));
      };
      if (!moveAction(list, from, to))
        continue;
      ++used;
      if (accepts(bound.getCost(now.lists))) {
        used += kJudged;
        if (double cost = judge.getCost(now.lists); accepts(cost)) {
          now.cost = cost;
          if (cost < best.cost)
            best = now;
          continue;
        }
      }
      moveAction(list, to, from);
    }
  }

  /// Mostly near.
  static size_t choosePlace(size_t from, size_t size, std::mt19937_64 &random) {
    int64_t reach = random() % 4 ? 4 : 16;
    int64_t step = int64_t(random() % uint64_t(2 * reach)) - reach;
    step += step >= 0;
    return size_t(std::clamp<int64_t>(int64_t(from) + step, 0, int64_t(size) - 1));
  }

  /// False, and nothing has changed, where all that it passes is of its own kind and chunk.
  static bool moveAction(Actions &list, size_t from, size_t to) {
    auto begin = list.begin();
    auto first = begin + int64_t(std::min(from, to)), last = begin + int64_t(std::max(from, to)) + 1;
    Action moved = list[from];
    auto isLike = [&](const Action &other) { return other.kind == moved.kind && other.chunk == moved.chunk; };
    if (std::all_of(first, last, isLike))
      return false;
    // The order of micro-batches stays (keepOrder): of those between here and there the first is still the
    // first.
    auto firstLike = std::find_if(first, last, isLike);
    int64_t microBatch = firstLike->microBatch;
    from < to ? std::rotate(first, first + 1, last) : std::rotate(first, last - 1, last);
    for (auto action = first; action != last; ++action)
      if (isLike(*action))
        action->microBatch = microBatch++;
    return true;
  }

  const SearchProblem &problem;
  FastReplay bound;
  StepJudge judge;
  std::set<double> offered; ///< bounds of the lists that were
  const int64_t actions;
  std::vector<Candidate> found;
};
} // namespace

/// A schedule runs one micro-batch after the other at least.
static Error checkLimits(const SearchProblem &problem) {
  for (auto [stage, limit] : enumerate(problem.memory.limits))
    if (!(limit >= double(problem.shape.chunksPerStage)))
      return makeError("a limit of " + formatv("{0:f2}", limit).str() + " on stage " + Twine(stage) +
                       " is below any schedule's need; the least is " + Twine(problem.shape.chunksPerStage));
  return Error::success();
}

Expected<PipelineSchedule> mlir::par::synthesizeSchedule(PipelineShape shape, const StepTimes &times,
                                                         const ScheduleMemory &memory) {
  Expected<std::vector<int64_t>> placed = placeChunksOf(kAutoSchedule, shape);
  if (!placed)
    return placed.takeError();
  SearchProblem problem{shape, std::move(*placed), times, memory};
  std::vector<double> &limits = problem.memory.limits;
  if (limits.size() < 2)
    limits.assign(size_t(shape.stages), limits.empty() ? double(shape.getNumChunks()) : limits.front());
  if (int64_t(limits.size()) != shape.stages)
    return makeError(Twine(limits.size()) + " limits, expected one, or one for each of the " +
                     Twine(shape.stages) + " stages");
  if (Error error = checkLimits(problem))
    return std::move(error);
  PipelineSchedule schedule;
  schedule.name = "auto";
  schedule.shape = shape;
  schedule.stages = Search(problem).run();
  schedule.stageOfChunk = std::move(problem.stageOfChunk);
  return schedule;
}
