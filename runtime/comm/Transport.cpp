#include "comm/Transport.h"

#include <algorithm>

namespace par::comm {

io::Status Transport::run(Group &group, const Collective &collective, void *const *buffers, uint64_t *sent) {
  PAR_TRY(execute(group, collective, buffers));
  if (sent)
    *sent += ringBytes(collective, group.size(), group.member());
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
