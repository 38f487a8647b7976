/// Where a rank's variables are.
#ifndef PAR_RT_ARENAS_H
#define PAR_RT_ARENAS_H

#include "core/Elements.h"
#include "device/Device.h"

#include <algorithm>
#include <atomic>

namespace par::rt {

/// The memory of one rank: the device's arena and, for variables of the memory space `host`, the host's.
struct Arenas {
  device::Device *on = nullptr;
  device::Address device, host;
  std::atomic<uint64_t> *beats = nullptr; ///< counted up by whoever moves variables, so that it is no stall

  device::Address of(const Variable &variable) const {
    return (variable.onHost ? host : device) + variable.offset;
  }
  void beat() const {
    if (beats)
      ++*beats;
  }
  /// Repeats a word, a piece at a time: pages that nobody has touched yet take long.
  void fill(device::Address to, uint32_t word, int64_t bytes) const {
    constexpr int64_t piece = int64_t(1) << 28;
    for (int64_t done = 0; done < bytes; done += piece, beat())
      on->fill(to + done, word, size_t(std::min(piece, bytes - done)));
  }
  /// All of a rank's part of a variable, copied to or from host memory of that size.
  void read(const Variable &variable, char *to) const { on->read(to, of(variable), localBytes(variable)); }
  void write(const Variable &variable, const char *from) const {
    on->write(of(variable), from, localBytes(variable));
  }
};

} // namespace par::rt
#endif
