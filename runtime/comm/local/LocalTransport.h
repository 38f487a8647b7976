/// Ranks as threads of one process, reading each other's buffers directly.
#ifndef PAR_COMM_LOCAL_LOCALTRANSPORT_H
#define PAR_COMM_LOCAL_LOCALTRANSPORT_H

#include "comm/Transport.h"

#include <memory>

namespace par::comm {

/// A link that collectives and messages are made to wait for: a member that sends b bytes on a ring
/// (Collective.h) is done latency + b / bytesPerSecond after all have come together, at the earliest, and a
/// message of b bytes after both ends have posted it and those before it on its route have ended.
struct EmulatedLink {
  double bytesPerSecond = 0; ///< 0: memory's own speed
  double latency = 0;        ///< seconds per collective or message
  bool isEmulated() const { return bytesPerSecond > 0; }
};

/// What the ranks of one process share. Outlives its transports.
class LocalWorld {
public:
  explicit LocalWorld(int size, EmulatedLink link = {});
  ~LocalWorld();
  int size() const;
  /// The end of `rank`; each is created once, from any thread.
  std::unique_ptr<Transport> connect(int rank);
  void abort();

private:
  friend class LocalTransport;
  struct State;
  std::unique_ptr<State> state;
};

} // namespace par::comm
#endif
