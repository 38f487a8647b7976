#include "core/LearningRate.h"

#include <algorithm>
#include <cmath>

namespace par::rt {

const char *nameOf(LrSchedule schedule) {
  switch (schedule) {
  case LrSchedule::constant:
    return "constant";
  case LrSchedule::cosine:
    return "cosine";
  case LrSchedule::linear:
    return "linear";
  case LrSchedule::warmupStableDecay:
    return "warmup-stable-decay";
  }
  return "";
}

int64_t decayEnd(const Hyperparameters &hyper, int64_t steps) {
  return hyper.decaySteps ? hyper.decaySteps : steps;
}

int64_t decayBegin(const Hyperparameters &hyper, int64_t steps) {
  if (hyper.schedule != LrSchedule::warmupStableDecay)
    return hyper.warmupSteps;
  int64_t end = decayEnd(hyper, steps);
  return end - (hyper.cooldownSteps ? hyper.cooldownSteps : std::max<int64_t>(1, end / 10));
}

double learningRate(const Hyperparameters &hyper, int64_t step, int64_t steps) {
  if (step <= hyper.warmupSteps)
    return hyper.lr * double(step) / double(hyper.warmupSteps);
  int64_t begin = decayBegin(hyper, steps), end = decayEnd(hyper, steps);
  if (hyper.schedule == LrSchedule::constant || step <= begin)
    return hyper.lr;
  if (step >= end)
    return hyper.minLr;
  double progress = double(step - begin) / double(end - begin);
  if (hyper.schedule == LrSchedule::cosine)
    return hyper.minLr + (hyper.lr - hyper.minLr) * (1 + std::cos(M_PI * progress)) / 2;
  return hyper.lr + (hyper.minLr - hyper.lr) * progress;
}

std::string scheduleProblem(const Hyperparameters &hyper, int64_t steps, const std::string &last) {
  if (hyper.schedule == LrSchedule::constant || steps == 0)
    return "";
  std::string end = hyper.decaySteps ? "--decay-steps " + std::to_string(hyper.decaySteps) : last;
  end += "; give fewer of the former or more of the latter";
  std::string name = std::string("the end of --lr-schedule ") + nameOf(hyper.schedule) + ", ";
  if (hyper.warmupSteps > decayEnd(hyper, steps))
    return "--warmup-steps " + std::to_string(hyper.warmupSteps) + " goes beyond " + name + end;
  if (hyper.warmupSteps > decayBegin(hyper, steps))
    return "--warmup-steps " + std::to_string(hyper.warmupSteps) + " and " +
           (hyper.cooldownSteps ? "--cooldown-steps " + std::to_string(hyper.cooldownSteps)
                                : "the decay over the last tenth") +
           " go beyond " + name + end;
  return "";
}

} // namespace par::rt
