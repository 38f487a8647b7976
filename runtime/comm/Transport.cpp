#include "comm/Transport.h"

#include <algorithm>

namespace par::comm {

io::Status Transport::run(Group &group, const Collective &collective, void *const *buffers, uint64_t *sent) {
  PAR_TRY(execute(group, collective, buffers));
  if (sent)
    *sent += ringBytes(collective, group.size(), group.member());
  return {};
}

static io::Status checkReached(device::Device &device) {
  if (!device.accelerator())
    return {};
  return io::Status::error(
      "this transport moves memory of the host only, and the rank computes on a GPU; run all ranks "
      "as threads of one process, or compile with --target cpu");
}

io::Status Transport::prepare(Group &, const Collective &collective, device::Device &device) {
  PAR_TRY(checkReached(device));
  reserve(collective.counts.size());
  return {};
}

io::Status Transport::makeRoute(int other, bool sends, size_t most, size_t buffers, device::Device &device,
                                std::unique_ptr<DeviceRoute> &made) {
  PAR_TRY(checkReached(device));
  made = std::make_unique<HostMovedRoute>(*route(other, sends, most, buffers), device, buffers);
  return {};
}

void Transport::reserve(size_t tensors) { reached.resize(std::max(reached.size(), 2 * tensors)); }

uint64_t Transport::enqueue(Group &group, const Collective &collective, const device::Address *buffers,
                            device::Device &device, device::Queue &queue, uint64_t *sent) {
  return queue.enqueue([this, to = &group, what = &collective, buffers, on = &device, sent] {
    reserve(what->counts.size());
    for (size_t i = 0; i < 2 * what->counts.size(); ++i)
      reached[i] = on->reach(buffers[i]);
    return run(*to, *what, reached.data(), sent);
  });
}

} // namespace par::comm
