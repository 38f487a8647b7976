/// Flags of the optimizer's run-time values.
#ifndef PAR_CORE_OPTIMIZERFLAGS_H
#define PAR_CORE_OPTIMIZERFLAGS_H

#include "core/Options.h"
#include "flags/Flags.h"

namespace par::rt {

void addOptimizer(flags::Flags &flags, Hyperparameters &hyper);

/// A flag of the learning rate's schedule that the schedule does not know, or nothing.
std::string findIdleSchedule(const Hyperparameters &hyper, const flags::Flags &flags);

} // namespace par::rt
#endif
