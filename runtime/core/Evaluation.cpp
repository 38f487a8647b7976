#include "core/Evaluation.h"

#include "core/DataFiles.h"
#include "core/Error.h"

#include <algorithm>

namespace par::rt {

void openEvaluation(const RunOptions &options, Loaded &loaded) {
  const Manifest &manifest = loaded.manifest;
  if (!manifest.has("eval"))
    throw Error(manifest.path +
                ": has no schedule \"eval\", which --eval-data needs; compile the package again");
  openEvaluationData(options, loaded);
  const io::TokenData &data = loaded.evalData;
  check(data.checkVocabulary(data.windowCount()));
  if (!manifest.sequence)
    return;
  if (io::Status status = data.checkTargets(0, data.windowCount()); !status.ok())
    throw Error("--eval-data " + status.message());
}

Evaluator::Evaluator(const Loaded &loaded, const InputSources &sources, Schedule schedule, int rank)
    : manifest(loaded.manifest), data(loaded.evalData), evalRows(loaded.evalRows), schedule(schedule),
      batch(manifest, rank), rows({manifest, sources, rank, ownInputs(manifest, rank, readers::Rows)}),
      values({manifest, sources, rank, ownInputs(manifest, rank, readers::Value)}) {}

std::optional<EvaluationReport> Evaluator::run(RankProgram &program, int64_t step,
                                               const std::function<bool()> &stopped,
                                               const std::function<double(double)> &agreed) {
  int64_t windows = passLength(data, evalRows), perBatch = manifest.batch;
  double sum = 0;
  values.write(program.arenas(), step);
  for (int64_t first = 0; first < windows; first += perBatch) {
    if (stopped())
      return std::nullopt;
    batch.write(program.arenas(), WindowRows(data, first, windows, manifest.sequence));
    rows.write(program.arenas(), evalRows, first, windows);
    program.run(schedule);
    for (int64_t m = 0; m < manifest.microBatches; ++m)
      sum += double(program.output("eval_loss", size_t(m)));
  }
  sum = agreed(sum);
  EvaluationReport report{step, 0, manifest.sequence ? data.countTargets(0, windows) : windows};
  report.loss = report.tokens ? sum / double(report.tokens) : 0;
  return report;
}

} // namespace par::rt
