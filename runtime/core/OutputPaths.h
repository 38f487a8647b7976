/// What a run writes must not be what it reads, nor be written twice.
#ifndef PAR_CORE_OUTPUTPATHS_H
#define PAR_CORE_OUTPUTPATHS_H

#include "core/Manifest.h"
#include "core/Options.h"

namespace par::rt {

/// Throws Error when two outputs, or an output and an input, are one file, whatever links and names lead to
/// it.
void checkOutputs(const RunOptions &options, const Manifest &manifest);

} // namespace par::rt
#endif
