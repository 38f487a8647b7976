/// What par-run's flags say together.
#ifndef PAR_CORE_FLAGCHECKS_H
#define PAR_CORE_FLAGCHECKS_H

#include "core/Options.h"
#include "flags/Flags.h"

namespace par::rt {

/// A flag that the command line gives and that none of its values lets act, or nothing.
std::string findIdle(const RunOptions &options, const flags::Flags &flags);

/// What is wrong with flags that are fine one by one, or nothing.
std::string findConflict(const RunOptions &options, const flags::Flags &flags);

} // namespace par::rt
#endif
