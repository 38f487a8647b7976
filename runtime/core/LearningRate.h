#ifndef PAR_CORE_LEARNINGRATE_H
#define PAR_CORE_LEARNINGRATE_H

#include "core/Options.h"

namespace par::rt {

/// Learning rate of step k, counted from 1, of a run of `steps`. With W warm-up steps, D decay steps:
///   k <= W: lr k / W;   constant: lr;   cosine, W < k <= D: min + (lr - min) (1 + cos(pi (k - W) / (D - W)))
///   / 2;   k > D: min.
double learningRate(const Hyperparameters &hyper, int64_t step, int64_t steps);

} // namespace par::rt
#endif
