//===- VShapedSchedules.cpp - two chunks per stage, there and back --------------------------------------===//
// Micro-batches go down the stages with the first chunks and up again with the second ones, so that the last
// stage has both of its chunks at once and the first one the loss's gradient early.
#include "BuildSchedule.h"

#include <array>
#include <deque>

namespace mlir::par {

namespace {

/// The list of one stage as it grows. Micro-batches come in their order for every kind of action and chunk,
/// so naming kind and chunk is enough.
class StageList {
public:
  StageList(PipelineShape shape, int64_t stage, int64_t microBatches)
      : chunks{stage, shape.getNumChunks() - 1 - stage}, wanted(shape.microBatches),
        microBatches(microBatches) {}

  bool hasForward(int turn) const { return counts[0][turn] < microBatches; }
  void forward(int turn) { append(ActionKind::Forward, turn, counts[0][turn]++); }
  void backward(int turn) { append(ActionKind::Backward, turn, counts[1][turn]++); }
  /// Weights later.
  void backwardInput(int turn) {
    late.push_back({ActionKind::BackwardWeight, chunks[turn], counts[1][turn]});
    append(ActionKind::BackwardInput, turn, counts[1][turn]++);
  }
  bool hasLate() const { return !late.empty(); }
  /// Weights of what is late longest.
  void backwardWeight() {
    append(late.front());
    late.pop_front();
  }
  /// Weights of what is late longest of one chunk.
  void backwardWeight(int turn) {
    auto it = late.begin();
    while (it->chunk != chunks[turn])
      ++it;
    append(*it);
    late.erase(it);
  }
  bool hasLate(int turn) const {
    for (const Action &action : late)
      if (action.chunk == chunks[turn])
        return true;
    return false;
  }

  Actions actions;

private:
  void append(ActionKind kind, int turn, int64_t microBatch) { append({kind, chunks[turn], microBatch}); }
  void append(const Action &action) {
    if (action.microBatch < wanted)
      actions.push_back(action);
  }

  std::array<int64_t, 2> chunks;
  int64_t
      wanted; ///< the list is for more micro-batches where a step has too few, and the others are left out
  int64_t microBatches;
  int64_t counts[2][2] = {}; ///< forward and backward, by turn
  std::deque<Action> late;
};

} // namespace

/// Qi et al., 2401.10241, section 6: as many first chunks ahead as come back as second ones without a gap,
/// and weights late where only they can fill the end.
Actions buildZeroBubbleV(PipelineShape shape, int64_t stage) {
  int64_t behind = shape.stages - stage;
  StageList list(shape, stage, std::max(shape.microBatches, 2 * shape.stages - 1));
  for (int64_t i = 0; i < 2 * behind - 1; ++i)
    list.forward(0);
  for (int64_t i = 0; i < stage; ++i)
    list.forward(1), list.forward(0);
  for (int64_t i = 0; i < behind; ++i)
    list.forward(1), list.backwardInput(1), list.backwardWeight();
  while (list.hasForward(1)) {
    if (list.hasForward(0))
      list.forward(0);
    list.backwardInput(0), list.backwardWeight();
    list.forward(1), list.backwardInput(1), list.backwardWeight();
  }
  for (int64_t i = 0; i < stage; ++i)
    list.backwardInput(0), list.backwardInput(1);
  for (int64_t i = 0; i < behind; ++i)
    list.backwardInput(0), list.backwardWeight(0);
  for (int turn : {1, 0})
    while (list.hasLate(turn))
      list.backwardWeight(turn);
  return std::move(list.actions);
}

/// DeepSeek-AI, 2412.19437, section 3.2.1, cut in half as in Qi et al., "DualPipe could be better without the
/// Dual" (2025): forward of one chunk beside backward of the other, two directions on one stage.
Actions buildDualPipeV(PipelineShape shape, int64_t stage) {
  int64_t behind = shape.stages - 1 - stage, microBatches = std::max(shape.microBatches, 2 * shape.stages);
  StageList list(shape, stage, microBatches);
  for (int64_t i = 0; i < 2 * behind; ++i)
    list.forward(0);
  for (int64_t i = 0; i <= stage; ++i)
    list.forward(0), list.forward(1);
  for (int64_t i = 0; i < behind; ++i)
    list.backwardInput(1), list.backwardWeight(), list.forward(1);
  while (list.hasForward(0))
    list.forward(0), list.backward(1), list.forward(1), list.backward(0);
  for (int64_t i = 0; i < behind; ++i)
    list.backward(1), list.forward(1), list.backward(0);
  // The first half of what is left at once, weights of the second half where the stage would wait.
  for (int64_t i = 0; i <= stage; ++i)
    for (int turn : {1, 0}) {
      if (i < (stage + 1) / 2)
        list.backward(turn);
      else
        list.backwardInput(turn);
    }
  for (int64_t i = 0; i < behind; ++i) {
    if (list.hasLate())
      list.backwardWeight();
    list.backwardInput(0);
  }
  while (list.hasLate())
    list.backwardWeight();
  return std::move(list.actions);
}

} // namespace mlir::par
