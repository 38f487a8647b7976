/// The learning rate of a step.
#ifndef PAR_CORE_LEARNINGRATE_H
#define PAR_CORE_LEARNINGRATE_H

#include "core/Options.h"

namespace par::rt {

/// "constant", "cosine", "linear", "warmup-stable-decay"
const char *nameOf(LrSchedule schedule);

/// Step D at which the decay has reached --min-lr, of a run of `steps`.
int64_t decayEnd(const Hyperparameters &hyper, int64_t steps);
/// Step B behind which the decay begins.
int64_t decayBegin(const Hyperparameters &hyper, int64_t steps);

/// Learning rate of step k, counted from 1, of a run of `steps`. With W warm-up steps and the progress of the
/// decay t = (k - B) / (D - B), k <= W: lr k / W; W < k <= B: lr; k > D: min; and between B and D
///   cosine, B = W:                            min + (lr - min) (1 + cos(pi t)) / 2
///   linear, B = W:                            lr + (min - lr) t
///   warmup-stable-decay, B = D - cooldown:    lr + (min - lr) t
/// A constant one does not decay.
double learningRate(const Hyperparameters &hyper, int64_t step, int64_t steps);

/// What is said where the last step of a run that is resumed was trained with another learning rate than
/// these values give it: from there on the rate jumps. Nothing where it does not.
std::string describeJump(const Hyperparameters &hyper, int64_t step, int64_t steps, double before);

/// Why a schedule cannot be followed in a run of `steps`, or nothing. `last` names the last step: "--steps
/// 100".
std::string scheduleProblem(const Hyperparameters &hyper, int64_t steps, const std::string &last);

} // namespace par::rt
#endif
