/// Where a rank's variables are.
#ifndef PAR_RT_ARENAS_H
#define PAR_RT_ARENAS_H

#include "core/Elements.h"
#include "device/Device.h"

namespace par::rt {

/// The memory of one rank: the device's arena and, for variables of the memory space `host`, the host's.
struct Arenas {
  device::Device *on = nullptr;
  device::Address device, host;

  device::Address of(const Variable &variable) const {
    return (variable.onHost ? host : device) + variable.offset;
  }
  /// All of a rank's part of a variable, copied to or from host memory of that size.
  void read(const Variable &variable, char *to) const { on->read(to, of(variable), localBytes(variable)); }
  void write(const Variable &variable, const char *from) const {
    on->write(of(variable), from, localBytes(variable));
  }
};

} // namespace par::rt
#endif
