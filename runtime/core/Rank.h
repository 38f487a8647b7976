/// One rank: its arena, its groups, its steps.
#ifndef PAR_CORE_RANK_H
#define PAR_CORE_RANK_H

#include "comm/Transport.h"
#include "core/Evaluation.h"
#include "core/Failure.h"
#include "core/Inputs.h"
#include "core/Loading.h"
#include "core/Metrics.h"
#include "core/ProgressLines.h"
#include "core/RankProgram.h"
#include "core/Saving.h"

#include <memory>

namespace par::rt {

/// What the ranks of a process share. Everything in it is made and checked before the ranks start.
struct Shared {
  Shared(const RunOptions &options, const Loaded &loaded, ProgressBoard &board, Failure &failure,
         MetricsFile &metrics, Saver &saver, Checkpointer &checkpointer, const Place &place,
         std::vector<int64_t> pids)
      : options(options), manifest(loaded.manifest), loaded(loaded), data(loaded.data),
        weights(options.weights.empty() || loaded.resume ? nullptr : &loaded.weights),
        resume(loaded.resume.get()), start(loaded.start), fault(loaded.fault), board(board), failure(failure),
        metrics(metrics), saver(saver), checkpointer(checkpointer), place(place), pids(std::move(pids)) {}

  const RunOptions &options;
  const Manifest &manifest;
  const Loaded &loaded;
  const io::TokenData &data;
  const io::Weights *weights;         ///< null: initial values, or those of `resume`
  const io::CheckpointReader *resume; ///< null: the run begins with step 1
  const Start &start;
  const Fault fault;
  ProgressBoard &board;
  Failure &failure;
  MetricsFile &metrics; ///< rank 0's
  Saver &saver;         ///< rank 0 writes
  Checkpointer &checkpointer;
  const Place place; ///< of each rank
  const std::vector<int64_t> pids;
};

/// How a run came to its end.
enum class Ending { complete, stopped, notFinite, evaluationNotFinite };

class Rank {
public:
  Rank(const Shared &shared, comm::Transport &transport, int number);

  /// Arena, constants, variables, groups. Throws Error.
  void prepare();
  /// All steps, and what is told of them at the end. The same ending on every rank. Throws Error.
  Ending run();
  /// Writes what the user wants saved. Throws Error.
  void save();

private:
  void waitForAll();
  void chooseAttention();
  void tuneProducts();
  Ending runSteps();
  void writeTrace();
  Ending finishStep(int64_t step, double begin);
  InputSources inputSources() const {
    return {shared.options, shared.data, shared.loaded.rows, shared.loaded.values, shared.start};
  }
  /// What all ranks found out together about a step.
  struct Agreed {
    Ending ending;
    bool savesAsked;
  };
  Agreed agreeOnStep(double begin, StepReport &report);
  void takeOutputs(StepReport &report) const;
  bool asksForSave() const;
  bool isSaved(int64_t step, const Agreed &agreed);
  void saveCheckpoint(int64_t step);
  /// Whether the step is one after which --eval-data is evaluated, and what came of it.
  bool isEvaluated(int64_t step) const;
  Ending evaluate(int64_t step);
  bool stopAgreed();
  /// A number that the rank which tells it knows, on all ranks.
  double agreedValue(bool tells, double value);
  /// Of device and host memory, over all ranks.
  struct Peaks {
    int64_t device, host;
  };
  /// Of every rank, on rank 0.
  void gatherPeaks(Peaks own);
  /// The most that a rank has sent in this step, by key, on all ranks.
  std::map<std::string, uint64_t> agreeOnTraffic();
  double peakOfGpus() const;
  void write(StepReport &report, bool isLast);
  void write(const EvaluationReport &report);

  const Shared &shared;
  const Manifest &manifest;
  comm::Transport &transport;
  const int number;
  RankProgram program;
  InputWriter inputs;
  std::unique_ptr<Profile> profile;     ///< null without --profile, and on all ranks but 0
  std::unique_ptr<Trace> trace;         ///< null without --trace
  std::unique_ptr<StepMarks> marks;     ///< null where there is neither of both
  std::unique_ptr<Evaluator> evaluator; ///< null without --eval-data
  ProgressPrinter printer;
  const std::vector<std::string> outputs; ///< that a step reports: loss, norm, further losses
  const std::vector<bool> tells;          ///< of each, whether this rank tells it to the others
  const bool tellsEvaluation;
  const comm::Collective agree;      ///< of finishStep
  const comm::Collective agreeOnOne; ///< of stopAgreed and agreedValue
  std::vector<int64_t> agreed;       ///< by `agree`
  const comm::Collective gather;     ///< of gatherPeaks
  std::vector<int64_t> peaks;        ///< device and host, rank by rank
  device::Rates rates;
  double peak = 0;       ///< operations per second of all GPUs of the job, as makers state them; 0: not known
  int64_t arenaUsed = 0; ///< by the schedules that ran since the last step's report
  int savesAsked = 0;    ///< by signals, and answered
  double savedAt = 0;    ///< when the last checkpoint was complete, or steps began
  std::optional<double> evalLoss; ///< of the parameters as they are
};

} // namespace par::rt
#endif
