#include "comm/DeviceRoute.h"

#include <algorithm>

namespace par::comm {

io::Status HostMovedRoute::post(const device::Address *buffers, const int64_t *bytes, size_t count,
                                uint64_t &number) {
  PAR_TRY(device.compute().wait(device.compute().record()));
  reached.resize(std::max(reached.size(), count)); // the route says what is wrong with so many
  for (size_t i = 0; i < count; ++i)
    reached[i] = device.reach(buffers[i]);
  number = route.post(reached.data(), bytes, count);
  return {};
}

} // namespace par::comm
