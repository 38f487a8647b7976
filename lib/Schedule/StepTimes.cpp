//===- StepTimes.cpp - how long what a step consists of takes -------------------------------------------===//
#include "par/Schedule/StepTimes.h"

using namespace mlir::par;

static double getEntry(const StepTimes &times, ActionKind kind, int64_t chunk) {
  auto found = times.entries.find({kind, chunk});
  return found == times.entries.end() ? 0 : found->second;
}

double StepTimes::getDuration(const Action &action) const {
  if (getMessage(action))
    return 0;
  if (!entries.empty())
    return getEntry(*this, action.kind, action.chunk);
  switch (action.kind) {
  case ActionKind::Forward:
  case ActionKind::Eval:
  case ActionKind::Logits:
    return of(action.chunk).forward;
  case ActionKind::Backward:
  case ActionKind::BackwardLast:
    return of(action.chunk).backwardInput + of(action.chunk).backwardWeight + of(action.chunk).joined;
  case ActionKind::BackwardInput:
    return of(action.chunk).backwardInput;
  case ActionKind::BackwardWeight:
  case ActionKind::BackwardWeightLast:
    return of(action.chunk).backwardWeight;
  default:
    return 0;
  }
}

double StepTimes::getTransfer(const Message &message) const {
  if (entries.empty())
    return of(message.getCut()).transfer;
  return getEntry(*this, message.getAction(MessagePart::Send).kind, message.from);
}
