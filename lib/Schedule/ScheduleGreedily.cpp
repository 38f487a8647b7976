//===- ScheduleGreedily.cpp - every stage does what is ready --------------------------------------------===//
#include "ScheduleSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <limits>

using namespace mlir::par;

static constexpr double kNever = std::numeric_limits<double>::infinity();

namespace {
class Greedy {
public:
  Greedy(const SearchProblem &problem, const GreedyPolicy &policy)
      : problem(problem), policy(policy), stages(size_t(problem.shape.stages)),
        forward(size_t(problem.getNumChunks() * problem.shape.microBatches), kNever), backward(forward),
        nextForward(size_t(problem.getNumChunks())), nextBackward(nextForward) {
    for (int64_t chunk = 0; chunk < problem.getNumChunks(); ++chunk)
      stages[size_t(problem.getStage(chunk))].chunks.push_back(chunk);
  }

  StageLists run() {
    int64_t left = 3 * problem.getNumChunks() * problem.shape.microBatches;
    while (left > 0) {
      size_t first = 0;
      for (size_t stage = 1; stage < stages.size(); ++stage)
        if (stages[stage].now < stages[first].now)
          first = stage;
      if (stages[first].now == kNever)
        return {};
      left -= decide(stages[first], int64_t(first));
    }
    StageLists lists;
    for (Stage &stage : stages)
      lists.push_back(std::move(stage.list));
    return lists;
  }

private:
  struct Stage {
    double now = 0;              ///< when it decides next
    double free = 0;             ///< the end of its last action
    std::vector<int64_t> chunks; ///< ascending
    std::deque<Action> late;     ///< weight parts that are to be done
    double reserved = 0;         ///< chunks of micro-batches that those which it has begun will come to hold
    double ahead = 0;            ///< the same, but until gradients of inputs are there
    Actions list;
  };

  /// Of the next micro-batch of a chunk; `kNever` while it is not known.
  double getForwardArrival(int64_t chunk) const {
    int64_t microBatch = nextForward[size_t(chunk)];
    if (microBatch == problem.shape.microBatches)
      return kNever;
    return chunk == 0 ? 0 : at(forward, chunk - 1, microBatch) + over(chunk - 1);
  }
  double getBackwardArrival(int64_t chunk) const {
    int64_t microBatch = nextBackward[size_t(chunk)];
    if (microBatch >= nextForward[size_t(chunk)])
      return kNever;
    double own = at(forward, chunk, microBatch);
    return chunk + 1 == problem.getNumChunks()
               ? own
               : std::max(own, at(backward, chunk + 1, microBatch) + over(chunk));
  }
  double at(const std::vector<double> &ends, int64_t chunk, int64_t microBatch) const {
    return ends[size_t(chunk * problem.shape.microBatches + microBatch)];
  }
  double over(int64_t cut) const { return problem.times.blockingTransfers ? 0 : problem.getTransfer(cut); }

  /// A micro-batch's first chunk on a stage takes room for all of its chunks there: else a later one could
  /// find none, and nothing would ever be given back.
  bool hasRoom(const Stage &stage, int64_t number, int64_t chunk) const {
    auto share = double(stage.chunks.size());
    if (chunk != stage.chunks.front())
      return true;
    double wanted = share * (policy.factor * double(problem.shape.stages - number) + policy.ahead);
    return stage.reserved + share <= problem.memory.limits[size_t(number)] + 1e-9 &&
           stage.ahead + share <= std::max(share, wanted) + 1e-9;
  }

  /// Does one action and returns 1, or waits and returns 0.
  int64_t decide(Stage &stage, int64_t number) {
    double soon = kNever; // the next arrival that is known
    int64_t toForward = -1, toBackward = -1;
    bool isBlocked = false;
    for (int64_t chunk : llvm::reverse(stage.chunks)) {
      double gradient = getBackwardArrival(chunk), activation = getForwardArrival(chunk);
      consider(gradient, chunk, stage.now, toBackward, soon);
      if (activation < kNever && !hasRoom(stage, number, chunk))
        isBlocked = true;
      else
        consider(activation, chunk, stage.now, toForward, soon);
    }
    bool isLate = !stage.late.empty();
    if (isLate && int64_t(stage.late.size()) > policy.mostWeights)
      return doWeights(stage);
    if (toForward >= 0 && (toBackward < 0 || policy.forwardFirst))
      return act(stage, {ActionKind::Forward, toForward, nextForward[size_t(toForward)]++});
    if (toBackward >= 0)
      return act(stage, {ActionKind::BackwardInput, toBackward, nextBackward[size_t(toBackward)]++});
    if (isLate &&
        (isBlocked || stage.now + policy.patience * problem.getDuration(stage.late.front()) <= soon))
      return doWeights(stage);
    stage.now = soon;
    return 0;
  }

  static void consider(double arrival, int64_t chunk, double now, int64_t &chosen, double &soon) {
    if (arrival > now)
      soon = std::min(soon, arrival);
    else if (chosen < 0)
      chosen = chunk;
  }

  int64_t doWeights(Stage &stage) {
    Action action = stage.late.front();
    stage.late.pop_front();
    return act(stage, action);
  }

  int64_t act(Stage &stage, const Action &action) {
    stage.free = stage.now += problem.getDuration(action);
    auto index = size_t(action.chunk * problem.shape.microBatches + action.microBatch);
    if (action.kind == ActionKind::Forward) {
      forward[index] = stage.now;
      if (action.chunk == stage.chunks.front())
        stage.reserved += double(stage.chunks.size()), stage.ahead += double(stage.chunks.size());
      wake(action.chunk + 1);
    } else if (action.kind == ActionKind::BackwardInput) {
      backward[index] = stage.now;
      stage.ahead -= 1;
      stage.reserved -= 1 - problem.memory.weightShare;
      stage.late.push_back({ActionKind::BackwardWeight, action.chunk, action.microBatch});
      wake(action.chunk - 1);
    } else {
      stage.reserved -= problem.memory.weightShare;
    }
    stage.list.push_back(action);
    return 1;
  }

  /// A stage that waits for an arrival that nobody knew looks again when it is known; one that waits for
  /// another one, too.
  void wake(int64_t chunk) {
    if (chunk < 0 || chunk >= problem.getNumChunks())
      return;
    Stage &stage = stages[size_t(problem.getStage(chunk))];
    double known = std::min(getForwardArrival(chunk), getBackwardArrival(chunk));
    if (stage.now > stage.free)
      stage.now = std::max(stage.free, std::min(stage.now, known));
  }

  const SearchProblem &problem;
  const GreedyPolicy &policy;
  std::vector<Stage> stages;
  std::vector<double> forward, backward; ///< by chunk and micro-batch: when it ends
  std::vector<int64_t> nextForward, nextBackward;
};
} // namespace

StageLists mlir::par::scheduleGreedily(const SearchProblem &problem, const GreedyPolicy &policy) {
  return Greedy(problem, policy).run();
}
