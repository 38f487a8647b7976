#include "comm/Transport.h"

#include <algorithm>

namespace par::comm {

io::Status Transport::run(Group &group, const Collective &collective, void *const *buffers, uint64_t *sent) {
  PAR_TRY(execute(group, collective, buffers));
  if (sent)
    *sent += ringBytes(collective, group.size(), group.member());
  return {};
}

io::Status Transport::prepare(Group &, const Collective &collective, device::Device &device) {
  if (device.accelerator())
    return io::Status::error(
        "this transport moves memory of the host only, and the rank computes on a GPU; run all ranks "
        "as threads of one process, or compile with --target cpu");
  reserve(collective.counts.size());
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
