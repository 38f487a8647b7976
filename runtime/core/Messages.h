/// Messages between a rank and its neighbours in a pipeline: entries of its program's list, on routes.
#ifndef PAR_CORE_MESSAGES_H
#define PAR_CORE_MESSAGES_H

#include "comm/Transport.h"
#include "core/Manifest.h"
#include "par/BegunMessages.h"

#include <map>

namespace par::rt {

/// Whether ranks send each other any: those need connections.
bool hasMessages(const Manifest &manifest);

/// "send:pp"
std::string messageTrafficKey();

class Messages {
public:
  /// Makes the routes of rank `number`. Every rank calls it once, before the first step. Throws Error.
  Messages(const Manifest &manifest, int number, comm::Transport &transport, device::Device &device);

  size_t size() const { return messages.size(); }
  /// Begins message `index` with a buffer per entry of its `bytes`, behind what was computed so far. What is
  /// received means nothing before the wait.
  io::Status start(size_t index, void *const *buffers);
  /// Waits for the oldest start of message `index` that was not waited for (par/BegunMessages.h); an error
  /// where there is none.
  io::Status wait(size_t index);
  /// When the message ended here that the last wait was for.
  comm::Route::Clock::time_point endOfLast(size_t index) const;
  bool isUnderWay(size_t index) const { return messages[index].underWay.size() > 0; }

  /// Bytes sent since the last reset, by "send:axis".
  void addTraffic(std::map<std::string, uint64_t> &bytes) const;
  void resetTraffic();
  /// Bytes sent since the last reset, by message: counters that live as long as this.
  void addCounters(std::vector<uint64_t *> &counters) {
    for (OnRoute &one : messages)
      counters.push_back(&one.sent);
  }

private:
  /// An entry of the list on this rank.
  struct OnRoute {
    const ManifestMessage *what;
    comm::DeviceRoute *route;
    par_begun_messages<uint64_t> underWay{par_most_messages_under_way}; ///< by their numbers on the route
    uint64_t last = 0;                                                  ///< that a wait was for
    uint64_t sent = 0;
  };

  device::Device &device;
  std::map<std::pair<int, int>, std::unique_ptr<comm::DeviceRoute>> routes; ///< by sender and receiver
  std::vector<OnRoute> messages;
  std::vector<device::Address> addresses; ///< of the message that begins
};

} // namespace par::rt
#endif
