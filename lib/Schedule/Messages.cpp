//===- Messages.cpp - which part of which message an action is ------------------------------------------===//
#include "par/Schedule/Schedule.h"

using namespace llvm;

namespace mlir::par {

std::optional<Message> getMessage(const Action &action) {
  int part = int(action.kind) - int(ActionKind::SendActivation);
  if (part < 0 || action.kind > ActionKind::ReceivedGradient)
    return std::nullopt;
  bool isGradient = part >= 4;
  auto which = MessagePart(part % 4);
  // Activations go to the next chunk, gradients to the one before.
  int64_t ahead = isGradient ? -1 : 1;
  bool isFrom = which == MessagePart::Send || which == MessagePart::Sent;
  return Message{which, isGradient, isFrom ? action.chunk : action.chunk - ahead,
                 isFrom ? action.chunk + ahead : action.chunk, action.microBatch};
}

bool isSum(ActionKind kind) { return kind == ActionKind::SumGradients || kind == ActionKind::SumSquares; }

} // namespace mlir::par
