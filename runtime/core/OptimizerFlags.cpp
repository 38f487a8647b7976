#include "core/OptimizerFlags.h"

#include "core/LearningRate.h"

namespace par::rt {

using flags::Flags;

static void addSchedule(Flags &flags, Hyperparameters &hyper) {
  std::vector<std::pair<std::string, LrSchedule>> words;
  for (LrSchedule schedule :
       {LrSchedule::constant, LrSchedule::cosine, LrSchedule::linear, LrSchedule::warmupStableDecay})
    words.emplace_back(nameOf(schedule), schedule);
  words.emplace_back("wsd", LrSchedule::warmupStableDecay);
  flags.choice("--lr-schedule", words,
               "constant (default); cosine or linear: from --lr down to --min-lr at step --decay-steps; "
               "warmup-stable-decay: constant, then linear over the last --cooldown-steps",
               hyper.schedule);
  flags.integer("--warmup-steps", "N",
                "steps over which the learning rate rises linearly to --lr (default: 0)", {},
                hyper.warmupSteps);
  flags.integer("--decay-steps", "N",
                "step at which the learning rate has come down to --min-lr (default: --steps)", {1},
                hyper.decaySteps);
  flags.integer("--cooldown-steps", "N",
                "warmup-stable-decay: length of the decay, which ends at --decay-steps (default: a tenth of "
                "those)",
                {1}, hyper.cooldownSteps);
  flags.number("--min-lr", "X", "where the learning rate comes down to (default: 0)", {}, hyper.minLr);
}

std::string findIdleSchedule(const Hyperparameters &hyper, const Flags &flags) {
  for (const char *flag : {"--min-lr", "--decay-steps"})
    if (hyper.schedule == LrSchedule::constant && flags.isGiven(flag))
      return std::string(flag) +
             " belongs to a --lr-schedule that decays, not to constant; give both or none";
  if (hyper.schedule != LrSchedule::warmupStableDecay && flags.isGiven("--cooldown-steps"))
    return "--cooldown-steps belongs to --lr-schedule warmup-stable-decay; give both or none";
  return "";
}

void addOptimizer(Flags &flags, Hyperparameters &hyper) {
  flags.section("Optimizer");
  flags.number("--lr", "X", "learning rate (default: 3e-4)", {}, hyper.lr);
  addSchedule(flags, hyper);
  flags::NumberRange decay;
  decay.most = 1, decay.belowMost = true;
  flags.number("--beta1", "X", "AdamW: decay of the first moment (default: 0.9)", decay, hyper.beta1);
  flags.number("--beta2", "X", "AdamW: decay of the second moment (default: 0.95)", decay, hyper.beta2);
  flags::NumberRange positive;
  positive.aboveLeast = true;
  flags.number("--eps", "X", "AdamW: added to the root of the second moment (default: 1e-8)", positive,
               hyper.eps);
  flags.number(
      "--weight-decay", "X",
      "decoupled weight decay of tensors of rank 2 and more, or of those that par-compile --weight-decay-on "
      "names (default: 0.1)",
      {}, hyper.weightDecay);
  flags.number("--clip-grad-norm", "X", "largest global gradient norm, 0 = no clipping (default: 1)", {},
               hyper.clip);
}

} // namespace par::rt
