#include "comm/message/MessageTransport.h"

#include <algorithm>

namespace par::comm {

MessageTransport::MessageTransport(std::unique_ptr<Messages> given, int rank, std::function<void()> tellAll)
    : messages(std::move(given)), collectives(*messages, rank), rank(rank), tellAll(std::move(tellAll)) {}

/// Groups with the same ranks are one: every member asks for them in the same order, so all find it or none
/// does.
Group *MessageTransport::group(const std::vector<int> &ranks, int channel) {
  std::unique_ptr<Group> &known = groups[{channel, ranks}];
  if (!known) {
    int member = int(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    known = messages->group(ranks, member);
    collectives.reserve(int(ranks.size()));
  }
  return known.get();
}

Route *MessageTransport::route(int other, bool sends, size_t most, size_t buffers) {
  routes.push_back(messages->route(other, sends, most, buffers));
  return routes.back().get();
}

void MessageTransport::abort() {
  stop();
  if (tellAll)
    tellAll();
}

} // namespace par::comm
