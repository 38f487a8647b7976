#include "core/Evaluation.h"

#include "core/Error.h"

#include <algorithm>

namespace par::rt {

void openEvaluation(const RunOptions &options, const Manifest &manifest, io::TokenData &data) {
  if (!manifest.has("eval"))
    throw Error(manifest.path +
                ": has no schedule \"eval\", which --eval-data needs; compile the package again");
  check(data.open(options.evalData, manifest.sequence, manifest.vocabulary, options.seed));
  check(data.checkVocabulary(data.windowCount()));
  if (!manifest.reads("targets"))
    return;
  if (io::Status status = data.checkTargets(0, data.windowCount()); !status.ok())
    throw Error("--eval-data " + status.message());
}

std::optional<EvaluationReport> Evaluator::run(RankProgram &program, int64_t step,
                                               const std::function<bool()> &stopped,
                                               const std::function<double(double)> &agreed) {
  int64_t windows = data.windowCount(), rows = manifest.batch;
  double sum = 0;
  for (int64_t first = 0; first < windows; first += rows) {
    if (stopped())
      return std::nullopt;
    batch.write(program.arenas(), WindowRows(data, first, windows, manifest.sequence));
    program.run(schedule);
    for (int64_t m = 0; m < manifest.microBatches; ++m)
      sum += double(program.output("eval_loss", size_t(m)));
  }
  sum = agreed(sum);
  EvaluationReport report{step, 0, manifest.reads("targets") ? data.countTargets(0, windows) : windows};
  report.loss = report.tokens ? sum / double(report.tokens) : 0;
  return report;
}

} // namespace par::rt
