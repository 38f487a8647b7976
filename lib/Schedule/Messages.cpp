//===- Messages.cpp - which part of which message an action is ------------------------------------------===//
#include "par/Schedule/Messages.h"

using namespace llvm;

namespace mlir::par {

/// In ActionKind, the parts of activations and then those of gradients stand in the order of MessagePart.
static constexpr int kFirst = int(ActionKind::SendActivation), kParts = 4;

std::optional<Message> getMessage(const Action &action) {
  int number = int(action.kind) - kFirst;
  if (number < 0 || action.kind > ActionKind::ReceivedGradient)
    return std::nullopt;
  bool isGradient = number >= kParts;
  Message message{MessagePart(number % kParts), isGradient, action.chunk, action.chunk, action.microBatch};
  int64_t ahead = isGradient ? -1 : 1;
  if (message.isAtSender())
    message.to += ahead;
  else
    message.from -= ahead;
  return message;
}

Action Message::getAction(MessagePart which) const {
  bool isSender = which == MessagePart::Send || which == MessagePart::Sent;
  return {ActionKind(kFirst + int(which) + (isGradient ? kParts : 0)), isSender ? from : to, microBatch};
}

bool isSum(ActionKind kind) { return kind == ActionKind::SumGradients || kind == ActionKind::SumSquares; }

} // namespace mlir::par
