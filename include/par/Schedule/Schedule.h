//===- Schedule.h - who computes what when in a pipeline --------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_SCHEDULE_H
#define PAR_SCHEDULE_SCHEDULE_H

#include "par/Schedule/ActionKind.h"
#include "par/Schedule/ScheduleKind.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mlir::par {

struct Action {
  ActionKind kind;
  int64_t chunk;      ///< of the model, from 0 in the order of forward; of a sum, the set of stages
  int64_t microBatch; ///< from 0; -1 for what is done once per step

  bool operator==(const Action &other) const {
    return kind == other.kind && chunk == other.chunk && microBatch == other.microBatch;
  }
};

/// An entry of a stage's list.
struct ActionPlace {
  size_t stage, position;
};

struct PipelineShape {
  int64_t stages = 1, microBatches = 1, chunksPerStage = 1;
  int64_t getNumChunks() const { return stages * chunksPerStage; }
};

/// What a step has beside the actions of its schedule.
struct StepParts {
  bool gathers = false; ///< Gather
  bool updates = true;  ///< Reduce, Norm and Update
  /// Chunks that have BackwardLast, or BackwardWeightLast, in place of the last Backward or BackwardWeight
  /// and of Reduce.
  std::set<int64_t> reducesInLast = {};
  bool forwardOnly = false; ///< Eval or Logits, and what they hand on
  /// Stages that share parameters, in ascending order: SumGradients for each of these sets.
  std::vector<std::vector<int64_t>> tied = {};
};

/// Data, so that it can be looked at, replayed and changed: per stage the actions in their order.
struct PipelineSchedule {
  std::string name;
  PipelineShape shape;
  std::vector<int64_t> stageOfChunk;
  std::vector<std::vector<Action>> stages;
  /// A chunk hands on its results when all micro-batches are done, not one by one.
  bool handsOnTogether = false;
  /// The lists are of the whole step, with these parts; none: of forward and backward actions only.
  std::optional<StepParts> step;

  /// An evaluation may have fewer than the shape: it ends with the last chunk that computes anything.
  int64_t getNumChunks() const { return int64_t(stageOfChunk.size()); }

  /// "F3": micro-batches count from 1, and a second, third chunk of a stage has a letter, "F3b".
  std::string describe(const Action &action) const;
};

/// Names that `buildSchedule` knows.
llvm::ArrayRef<llvm::StringLiteral> getScheduleNames();

/// `layer-wise`        all micro-batches of a chunk before any of the next one
/// `gpipe`             all forward, then all backward in reverse order (Huang et al., 1811.06965)
/// `1f1b`              backward as soon as it can be, so that a stage holds P - s micro-batches (Narayanan et
///                     al., 1806.03377, 2104.04473)
/// `interleaved-1f1b`  the same with several chunks per stage, dealt out in turns (2104.04473, section 2.2)
/// `zb-h1`, `zb-h2`    gradients of weights apart, later; memory of 1f1b, or of 2P - 1 micro-batches (Qi et
///                     al., 2401.10241, section 2)
/// `zb-v`              two chunks per stage, there and back; memory of 1f1b's first stage on all, no bubble
///                     but the ramps (2401.10241, section 6)
/// `dualpipe-v`        there and back, forward of one chunk beside backward of the other (2412.19437, 3.2.1)
/// Fails for an unknown name, for counts below 1 and where a schedule does not exist for the shape; the error
/// says what it needs.
llvm::Expected<PipelineSchedule> buildSchedule(llvm::StringRef name, PipelineShape shape);

/// The stage of every chunk, of `auto` as well. Fails as buildSchedule does.
llvm::Expected<std::vector<int64_t>> placeChunksOf(llvm::StringRef name, PipelineShape shape);

/// The lists with everything that a step does. A send begins behind what makes it (where chunks hand on
/// together, behind the last micro-batch) and is waited for before the chunk's next one. A receive begins an
/// action before the one that needs it, and in the order in which the other stage sends.
PipelineSchedule completeStep(PipelineSchedule schedule, StepParts parts);

/// What several stages add up.
bool isSum(ActionKind kind);

/// Every micro-batch through these chunks, by Eval or Logits.
PipelineSchedule buildForwardOnly(ActionKind kind, int64_t microBatches, std::vector<int64_t> stageOfChunk);

/// Chunks per stage where the user gives none.
int64_t getUsualChunks(llvm::StringRef name);

} // namespace mlir::par

#endif // PAR_SCHEDULE_SCHEDULE_H
