#include "core/FlagChecks.h"

#include "core/LearningRate.h"
#include "core/OptimizerFlags.h"

namespace par::rt {

using flags::Flags;

/// What has no effect on a run of no steps, and why. A run file that says how a model is trained also serves
/// to evaluate it.
static std::string findIdleWithoutSteps(const RunOptions &options, const Flags &flags) {
  for (const char *flag :
       {"--lr", "--lr-schedule", "--warmup-steps", "--decay-steps", "--cooldown-steps", "--min-lr", "--beta1",
        "--beta2", "--eps", "--weight-decay", "--clip-grad-norm", "--loss-weight", "--data", "--shuffle"})
    if (flags.isOnCommandLine(flag))
      return std::string(flag) + " is of steps that train";
  if (flags.isOnCommandLine("--input") && !options.evalData.isGiven())
    return "--input is of steps that train and of evaluations";
  if (!options.saveGrads.empty())
    return "--save-grads needs a step";
  if (options.profile)
    return "--profile measures steps";
  if (!options.trace.empty())
    return "--trace shows steps";
  if (options.evalEvery)
    return "--eval-every counts steps";
  if (options.logEvery)
    return "--log-every counts steps";
  if (!options.metrics.empty() && !options.evalData.isGiven())
    return "--metrics has a line per step";
  if (!options.checkpoint.empty() && options.resume.empty())
    return "--checkpoint keeps what steps have made (--save-params writes initial values)";
  return "";
}

std::string findIdle(const RunOptions &options, const Flags &flags) {
  if (std::string idle = findIdleSchedule(options.hyper, flags); !idle.empty())
    return idle;
  if (std::string idle = findIdleWithoutSteps(options, flags);
      options.steps == 0 && options.epochs == 0 && !idle.empty())
    return idle + ", but --steps is 0";
  if (options.evalEvery && !options.evalData.isGiven())
    return "--eval-every needs --eval-data FILE";
  if (options.keepBest && !options.evalData.isGiven())
    return "--keep-best needs --eval-data FILE, whose loss says what is best";
  bool onlyRandom = options.data.isRandom() && options.evalData.sources.empty();
  if (onlyRandom && options.data.type != io::TokenType::automatic)
    return "--data-dtype says how files are read, but --data is random; leave it out";
  if (options.checkpoint.empty())
    for (const char *flag : {"--checkpoint-every", "--save-minutes", "--keep", "--keep-best"})
      if (flags.isGiven(flag))
        return std::string(flag) + " needs --checkpoint DIR";
  return "";
}

/// A flag that needs what is computed, or nothing.
static std::string findComputing(const RunOptions &options) {
  for (const auto &[flag, isGiven] :
       {std::pair("--save-params", !options.saveParams.empty()),
        std::pair("--save-grads", !options.saveGrads.empty()),
        std::pair("--checkpoint", !options.checkpoint.empty()),
        std::pair("--eval-data", options.evalData.isGiven()), std::pair("--profile", options.profile)})
    if (isGiven)
      return std::string("--emulate-kernels computes nothing, so there is nothing for ") + flag +
             "; leave one of them out";
  return "";
}

std::string findConflict(const RunOptions &options, const Flags &flags) {
  const Hyperparameters &hyper = options.hyper;
  if (hyper.schedule != LrSchedule::constant && hyper.minLr > hyper.lr)
    return "--min-lr is above --lr, but the learning rate falls from --lr to --min-lr; exchange them";
  if (std::string problem = scheduleProblem(hyper, options.steps, "--steps " + std::to_string(options.steps));
      !problem.empty())
    return problem;
  if (options.evalData.isRandom())
    return "--eval-data random: random data has no end; give a file";
  if (options.epochs && options.data.isRandom() && options.data.rows.empty())
    return "--epochs: random data has no end; give --data FILE, or --steps";
  if (std::string computing = findComputing(options); options.kernels.areEmulated() && !computing.empty())
    return computing;
  if (options.deterministic && flags.isGiven("--tune-seconds") && options.tuneSeconds > 0)
    return "--deterministic computes products the same way each time, but --tune-seconds measures which is "
           "the "
           "quickest; leave one of them out";
  if (options.deterministic && options.attention == AttentionChoice::cudnn)
    return "--deterministic: --attention cudnn adds up gradients in another order each time; leave one of "
           "them out";
  if (options.checkpoint.empty() && options.resume == "latest")
    return "--resume latest needs --checkpoint DIR";
  if (!options.resume.empty() && options.resume != "latest" && !options.weights.empty())
    return "--resume and --weights both say where parameters come from; give one, or --resume latest, which "
           "takes --weights while there is no checkpoint";
  return "";
}

} // namespace par::rt
