/// All groups of a job, as all ranks make them together.
#ifndef PAR_CORE_DIVISIONS_H
#define PAR_CORE_DIVISIONS_H

#include "comm/Division.h"
#include "core/Manifest.h"

namespace par::rt {

/// The groups of two or more ranks that collectives of any program have, and the pairs of ranks that send
/// messages, each once. The same on every rank, whatever its own program is.
std::vector<comm::Division> divisionsOf(const Manifest &manifest);

} // namespace par::rt
#endif
