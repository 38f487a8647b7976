//===- MessageQueues.h - messages between stages, while lists are replayed --------------------*- C++ -*-===//
#ifndef PAR_LIB_SCHEDULE_MESSAGEQUEUES_H
#define PAR_LIB_SCHEDULE_MESSAGEQUEUES_H

#include "par/Schedule/Timeline.h"

#include <array>

namespace mlir::par {

/// From one stage to another one: the k-th that begins there is the k-th that begins here, and a transfer
/// begins when both have and the one before is over.
class MessageQueues {
public:
  MessageQueues(const PipelineSchedule &schedule, const StepTimes &times) : schedule(schedule), times(times) {
    for (std::vector<int64_t> &ends : numbers)
      ends.assign(size_t(2 * schedule.getNumChunks() * schedule.shape.microBatches), kNotBegun);
  }

  /// An end begins at `when`, where transfers occupy their sender at the end of that. Stages that waited for
  /// a message that now has a time go to `ready`.
  void begin(const Message &message, ActionPlace at, double when, std::vector<size_t> &ready);
  /// When a message that this end has begun is over; none if that is not known yet, or it has not begun.
  std::optional<double> getEnd(const Message &message) const;
  void wait(const Message &message, size_t stage) { queues[getKey(message)].waiting.push_back(stage); }
  /// The first message of its queue that one end has not begun, and where that one will.
  ActionPlace findMissing(const Message &message) const;
  std::vector<TimedMessage> getTimeline() const;

private:
  using Key = std::pair<int64_t, int64_t>; ///< sending and receiving stage
  struct End {
    ActionPlace at;
    double when;
  };
  struct Queue {
    std::vector<End> sends, receives;
    std::vector<double> arrivals;
    std::vector<TimedMessage> done;
    std::vector<size_t> waiting; ///< stages
  };

  Key getKey(const Message &message) const {
    return {schedule.stageOfChunk[size_t(message.from)], schedule.stageOfChunk[size_t(message.to)]};
  }
  size_t getIndex(const Message &message) const {
    return size_t((message.from * 2 + int64_t(message.isGradient)) * schedule.shape.microBatches +
                  message.microBatch);
  }
  void transfer(Queue &queue) const;

  const PipelineSchedule &schedule;
  const StepTimes &times;
  std::map<Key, Queue> queues;
  static constexpr int64_t kNotBegun = -1;
  std::array<std::vector<int64_t>, 2> numbers; ///< in their queue, of receives and of sends
};

} // namespace mlir::par

#endif // PAR_LIB_SCHEDULE_MESSAGEQUEUES_H
