/// Where a rank's variables are.
#ifndef PAR_RT_ARENAS_H
#define PAR_RT_ARENAS_H

#include "core/Manifest.h"

namespace par::rt {

/// The memory of one rank: the device's arena and, for variables of the memory space `host`, the host's.
struct Arenas {
  char *device = nullptr, *host = nullptr;

  char *of(const Variable &variable) const { return (variable.onHost ? host : device) + variable.offset; }
};

} // namespace par::rt
#endif
