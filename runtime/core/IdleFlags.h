#ifndef PAR_CORE_IDLEFLAGS_H
#define PAR_CORE_IDLEFLAGS_H

#include "core/Manifest.h"
#include "core/Options.h"

#include <string>
#include <vector>

namespace par::rt {

/// Refuses flags that can never act on the package, with the remedy. Throws Error.
void refuseIdleFlags(const RunOptions &options, const Manifest &manifest);

/// Flags for which only the package's mesh leaves nothing to do: a line for each.
std::vector<std::string> noteIdleFlags(const RunOptions &options, const Manifest &manifest);

} // namespace par::rt
#endif
