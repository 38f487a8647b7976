/// The loss over a whole file of tokens, without dropout, between two steps.
#ifndef PAR_CORE_EVALUATION_H
#define PAR_CORE_EVALUATION_H

#include "core/InputReaders.h"
#include "core/Loading.h"
#include "core/RankProgram.h"
#include "core/Reports.h"

#include <functional>
#include <optional>

namespace par::rt {

/// What --eval-data names. Throws Error: no schedule `eval` in the package, data that does not end, does
/// not fit the model, or has no target.
void openEvaluation(const RunOptions &options, Loaded &loaded);

/// Evaluation on one rank.
class Evaluator {
public:
  Evaluator(const Loaded &loaded, const InputSources &sources, Schedule schedule, int rank);

  /// All ranks together; every window of the data counts once. Nothing when `stopped` says so before a batch,
  /// which it does on all ranks alike; `agreed` makes the sum of ranks that have losses that of all. Throws
  /// Error.
  std::optional<EvaluationReport> run(RankProgram &program, int64_t step,
                                      const std::function<bool()> &stopped,
                                      const std::function<double(double)> &agreed);

private:
  const Manifest &manifest;
  const io::TokenData &data;
  const io::RowData &evalRows;
  Schedule schedule;
  BatchWriter batch;
  RowsReader rows;
  ValueReader values;
};

} // namespace par::rt
#endif
