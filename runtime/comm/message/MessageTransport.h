/// A transport on messages between processes; Messages.h says what it stands on.
#ifndef PAR_COMM_MESSAGE_MESSAGETRANSPORT_H
#define PAR_COMM_MESSAGE_MESSAGETRANSPORT_H

#include "comm/message/MessageCollectives.h"

#include <functional>
#include <map>

namespace par::comm {

class MessageTransport : public Transport {
public:
  /// `tellAll` tells every process of the job to end its waits; it is called by `abort`.
  MessageTransport(std::unique_ptr<Messages> messages, int rank, std::function<void()> tellAll);
  Group *group(const std::vector<int> &ranks, int channel) override;
  io::Status openRoutes() override { return messages->openRoutes(); }
  Route *route(int other, bool sends, size_t most, size_t buffers) override;
  io::Status barrier(Group &group) override { return collectives.barrier(group); }
  void shareCores() override { messages->shareCores(); }
  uint64_t handedOver() const override { return messages->handedOver(); }
  void abort() override;
  /// Another process called `abort`: ends the waits of this one. Callable from any thread.
  void stop() { messages->stop(); }

protected:
  io::Status execute(Group &group, const Collective &collective, void *const *buffers) override {
    return collectives.run(group, collective, buffers);
  }

private:
  std::unique_ptr<Messages> messages;
  MessageCollectives collectives;
  const int rank;
  std::function<void()> tellAll;
  std::map<std::pair<int, std::vector<int>>, std::unique_ptr<Group>> groups; ///< by channel and ranks
  std::vector<std::unique_ptr<Route>> routes; ///< before `messages` goes, which they use
};

} // namespace par::comm
#endif
