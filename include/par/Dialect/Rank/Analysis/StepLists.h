//===- StepLists.h - the lists that a module's schedules are ----------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_RANK_ANALYSIS_STEPLISTS_H
#define PAR_DIALECT_RANK_ANALYSIS_STEPLISTS_H

#include "par/Dialect/Rank/IR/Rank.h"
#include <map>

namespace mlir::par::rank {

/// The schedules of one purpose, a stage each, as lists of a whole step that can be replayed.
struct StepLists {
  /// Fails, after an error of `par-verify-schedule`, where they are not those of one step. Without any
  /// schedules there are no stages.
  static FailureOr<StepLists> read(ModuleOp module, Purpose purpose);

  PipelineSchedule lists;
  SmallVector<ScheduleOp> stages;
  std::vector<std::vector<EntryOpInterface>> entries;        ///< by stage, beside the lists
  std::map<std::pair<ActionKind, int64_t>, ExchangeOp> sums; ///< the last of each, by kind and set of stages
};

} // namespace mlir::par::rank

#endif // PAR_DIALECT_RANK_ANALYSIS_STEPLISTS_H
