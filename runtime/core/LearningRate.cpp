#include "core/LearningRate.h"

#include <cmath>

namespace par::rt {

double learningRate(const Hyperparameters &hyper, int64_t step, int64_t steps) {
  int64_t warmup = hyper.warmupSteps, decay = hyper.decaySteps ? hyper.decaySteps : steps;
  if (step <= warmup)
    return hyper.lr * double(step) / double(warmup);
  if (!hyper.cosine)
    return hyper.lr;
  if (step >= decay)
    return hyper.minLr;
  double progress = double(step - warmup) / double(decay - warmup);
  return hyper.minLr + (hyper.lr - hyper.minLr) * (1 + std::cos(M_PI * progress)) / 2;
}

} // namespace par::rt
