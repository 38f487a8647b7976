//===- Messages.h - what goes from one stage to another ---------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_MESSAGES_H
#define PAR_SCHEDULE_MESSAGES_H

#include "par/Schedule/Schedule.h"

#include <algorithm>
#include <tuple>

namespace mlir::par {

/// The part of a message that an action is: its beginning and its wait, at both ends.
enum class MessagePart { Send, Sent, Receive, Received };

/// Results of a chunk, which go to the next one, or gradients, which go to the one before.
struct Message {
  MessagePart part;
  bool isGradient;
  int64_t from, to; ///< chunks
  int64_t microBatch;

  /// The same for all parts.
  using Id = std::tuple<bool, int64_t, int64_t>;
  Id getId() const { return {isGradient, from, microBatch}; }
  /// What a wait at run time is told: the end, whether it is a gradient, and of which chunk, but no
  /// micro-batch. It ends the oldest message of its kind that has begun (par/BegunMessages.h).
  using Kind = std::tuple<bool, bool, int64_t>;
  Kind getKind() const { return {isAtSender(), isGradient, from}; }

  bool begins() const { return part == MessagePart::Send || part == MessagePart::Receive; }
  bool isAtSender() const { return part == MessagePart::Send || part == MessagePart::Sent; }
  /// The chunk at the other end.
  int64_t getOther() const { return isAtSender() ? to : from; }
  /// The chunk before the cut that it crosses.
  int64_t getCut() const { return std::min(from, to); }
  /// The action that is a part of it.
  Action getAction(MessagePart which) const;
};

/// None for what is no message.
std::optional<Message> getMessage(const Action &action);

} // namespace mlir::par

#endif // PAR_SCHEDULE_MESSAGES_H
