//===- MessageQueues.cpp - messages between stages, while lists are replayed ----------------------------===//
#include "MessageQueues.h"

#include <algorithm>

using namespace mlir::par;

void MessageQueues::begin(const Message &message, ActionPlace at, double when, std::vector<size_t> &ready) {
  Queue &queue = queues[getKey(message)];
  bool isSend = message.part == MessagePart::Send;
  std::vector<End> &begun = isSend ? queue.sends : queue.receives;
  numbers[isSend][getIndex(message)] = int64_t(begun.size());
  begun.push_back({at, when});
  while (queue.done.size() < std::min(queue.sends.size(), queue.receives.size())) {
    transfer(queue);
    ready.insert(ready.end(), queue.waiting.begin(), queue.waiting.end());
    queue.waiting.clear();
  }
}

/// The next message of a queue, which both ends have begun.
void MessageQueues::transfer(Queue &queue) const {
  End send = queue.sends[queue.done.size()], receive = queue.receives[queue.done.size()];
  double before = queue.arrivals.empty() ? 0 : queue.arrivals.back();
  double start = std::max({send.when, receive.when, before});
  double takes = times.getTransfer(*getMessage(schedule.stages[send.at.stage][send.at.position]));
  if (times.blockingTransfers) {
    // The sender has done it; it is there as soon as the receiver asks.
    queue.done.push_back({send.at, receive.at, send.when - takes, send.when});
    queue.arrivals.push_back(start);
    return;
  }
  queue.done.push_back({send.at, receive.at, start, start + takes});
  queue.arrivals.push_back(start + takes);
}

std::optional<double> MessageQueues::getEnd(const Message &message) const {
  int64_t number = numbers[message.isAtSender()][getIndex(message)];
  if (number == kNotBegun)
    return std::nullopt;
  const std::vector<double> &arrivals = queues.find(getKey(message))->second.arrivals;
  return size_t(number) < arrivals.size() ? std::optional(arrivals[size_t(number)]) : std::nullopt;
}

ActionPlace MessageQueues::findMissing(const Message &message) const {
  static const Queue empty;
  auto found = queues.find(getKey(message));
  const Queue &queue = found == queues.end() ? empty : found->second;
  size_t number = queue.done.size();
  bool isSend = queue.sends.size() <= number;
  auto stage = size_t(schedule.stageOfChunk[size_t(isSend ? message.from : message.to)]);
  size_t seen = 0;
  for (size_t position = 0; position < schedule.stages[stage].size(); ++position)
    if (std::optional<Message> each = getMessage(schedule.stages[stage][position]))
      if (each->part == (isSend ? MessagePart::Send : MessagePart::Receive) &&
          getKey(*each) == getKey(message) && seen++ == number)
        return {stage, position};
  llvm_unreachable("both ends have as many messages");
}

std::vector<TimedMessage> MessageQueues::getTimeline() const {
  std::vector<TimedMessage> all;
  for (auto &[key, queue] : queues)
    all.insert(all.end(), queue.done.begin(), queue.done.end());
  return all;
}
