#include "comm/Transport.h"

namespace par::comm {

io::Status Transport::run(Group &group, const Collective &collective, void *const *buffers, uint64_t *sent) {
  PAR_TRY(execute(group, collective, buffers));
  if (sent)
    *sent += ringBytes(collective, group.size(), group.member());
  return {};
}

} // namespace par::comm
