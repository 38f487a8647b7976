/// The thread that moves a process's messages of routes while its rank computes.
#ifndef PAR_COMM_TCP_TCPMOVER_H
#define PAR_COMM_TCP_TCPMOVER_H

#include "comm/process/Socket.h"

#include <atomic>
#include <mutex>
#include <poll.h>
#include <thread>
#include <vector>

namespace par::comm {

class TcpRoute;

class TcpMover {
public:
  TcpMover();
  ~TcpMover();
  /// The first one starts the thread. Not within a step.
  void add(TcpRoute &route);
  void remove(TcpRoute &route);
  /// There is more to move than when the thread looked last.
  void wake();
  /// Ends all waits. Callable from any thread.
  void stop();
  bool isStopped() const { return stopped; }

private:
  void run();
  /// Moves what can be moved at once, and lists what to sleep for.
  void moveAll();

  Socket wakeUp;
  std::atomic<bool> stopped{false}, ending{false};
  std::mutex mutex; ///< of the list
  std::vector<TcpRoute *> routes;
  std::vector<pollfd> entries; ///< the thread's, which sleeps on them
  std::vector<pollfd> spare;   ///< larger ones, where routes were added
  std::thread thread;
};

} // namespace par::comm
#endif
