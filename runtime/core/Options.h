/// What the user asks of one run.
#ifndef PAR_CORE_OPTIONS_H
#define PAR_CORE_OPTIONS_H

#include "comm/local/LocalTransport.h"
#include "core/Launch.h"
#include "cpu/Units.h"
#include "par/io/LossWeights.h"
#include "par/io/TokenData.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace par::rt {

/// How the learning rate goes on behind the warm-up; LearningRate.h has the formulas.
enum class LrSchedule { constant, cosine, linear, warmupStableDecay };

/// Run-time values of the optimizer.
struct Hyperparameters {
  double lr = 3e-4, minLr = 0, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1, clip = 1.0;
  LrSchedule schedule = LrSchedule::constant;
  int64_t warmupSteps = 0;
  int64_t decaySteps = 0;    ///< where the decay ends; 0 = at the run's steps
  int64_t cooldownSteps = 0; ///< length of the decay of warmupStableDecay; 0 = a tenth of all
};

/// The device whose kernels are slept through.
struct EmulatedRates {
  double flops = 0, bytes = 0; ///< per second
  bool areEmulated() const { return flops > 0; }
};

/// What computes attention on GPUs.
enum class AttentionChoice { automatic, cudnn, generated };

struct RunOptions {
  std::string package;
  int64_t steps = 0;
  double epochs = 0; ///< passes over the data; 0 = `steps` are given, else `load` finds how many those are
  io::DataOptions data;
  io::DataOptions evalData{{}};    ///< no files: nothing is evaluated
  int64_t evalEvery = 0;           ///< steps; 0 = only after the last one
  int64_t logEvery = 0;            ///< steps between lines of progress; 0 = by time
  std::vector<std::string> inputs; ///< of --input: NAME=VALUE, NAME=FILE
  std::string weights, metrics, trace, saveParams, saveGrads;
  uint64_t seed = 0;
  bool seedGiven = false;
  std::string checkpoint, resume; ///< folders, or "latest" of the former for the latter
  /// Name of the checkpoint to resume in the folder that `resume` means, "." for that itself, empty for none:
  /// what rank 0 found, as others may look at another moment. Not given where this process looks.
  std::optional<std::string> resumeName;
  int64_t checkpointEvery = 0; ///< steps; 0 = only after the last one and when a signal asks
  double saveMinutes = 0;      ///< between checkpoints; 0 = not by time
  int64_t keep = 0;            ///< newest checkpoints that stay; 0 = all
  bool keepBest = false;       ///< the checkpoint of the least evaluation loss is saved, and stays
  Hyperparameters hyper;
  io::LossWeights lossWeights; ///< of others the package's
  double timeout = 300;        ///< seconds
  bool profile = false;
  bool allowNonfinite = false;
  bool deterministic = false;
  double tuneSeconds = 5; ///< for measuring ways to compute products; 0: none are
  AttentionChoice attention = AttentionChoice::automatic;
  TransportKind transport = TransportKind::automatic;
  comm::EmulatedLink link; ///< of the transport local
  EmulatedRates kernels;
  std::optional<cpu::Bf16Units> bf16Units; ///< nothing: what the processor has
  int rank = -1;                           ///< --rank; -1: the launcher's variables say it
  std::vector<std::string> given;          ///< flags of the command line, whatever their values
};

/// The data's sources in one line.
std::string describeData(const io::DataOptions &data);

/// Reads par-run's command line; `package` is given when the executable is a package's own launcher. Returns
/// the exit code when there is nothing to run (--help, a wrong flag: message printed unless `quiet`).
std::optional<int> parseCommandLine(int argc, char **argv, const std::string &package, bool quiet,
                                    RunOptions &options);

} // namespace par::rt
#endif
