#include "core/LearningRate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

std::string describeJump(const Hyperparameters &hyper, int64_t step, int64_t steps, double before) {
  constexpr double tolerance = 0.01; // --steps that differ a little change every rate a little
  double now = learningRate(hyper, step, steps), next = learningRate(hyper, step + 1, steps);
  if (std::abs(now - before) <= tolerance * std::max(std::abs(now), std::abs(before)))
    return "";
  char text[256];
  int length =
      std::snprintf(text, sizeof(text),
                    "the learning rate jumps: step %lld was trained with %.4g, for which these flags give "
                    "%.4g",
                    static_cast<long long>(step), before, now);
  if (before > 0 && now > 0)
    length +=
        std::snprintf(text + length, sizeof(text) - size_t(length), ", %.3g times as much", now / before);
  std::snprintf(text + length, sizeof(text) - size_t(length), "; step %lld has %.4g",
                static_cast<long long>(step + 1), next);
  return text;
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
