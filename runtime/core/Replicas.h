/// Copies of a variable on several stages, which are to stay equal to the bit.
#ifndef PAR_CORE_REPLICAS_H
#define PAR_CORE_REPLICAS_H

#include "comm/Transport.h"
#include "core/Arenas.h"

namespace par::rt {

/// All ranks together: compares what stages hold of the parameters, masters and moments that several of them
/// list. Throws Error on rank 0 where a copy differs from the owner's.
void compareReplicas(const Manifest &manifest, int rank, const Arenas &arenas, comm::Transport &transport,
                     comm::Group &world);

} // namespace par::rt
#endif
