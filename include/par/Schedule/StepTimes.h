//===- StepTimes.h - how long what a step consists of takes -----------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_STEPTIMES_H
#define PAR_SCHEDULE_STEPTIMES_H

#include "par/Schedule/Messages.h"

#include <map>

namespace mlir::par {

/// Of one chunk and micro-batch, in any unit. `Backward` takes backwardInput + backwardWeight + joined.
struct ActionTimes {
  double forward = 1, backwardInput = 1, backwardWeight = 1;
  double transfer = 0; ///< over the cut behind the chunk, forward or back
  double joined = 0;   ///< what a whole backward pass takes longer than its parts, or less
};

struct StepTimes {
  /// Of all chunks, or of each.
  std::vector<ActionTimes> chunks;
  /// A transfer occupies the stage that sends; otherwise it runs beside what the stages compute.
  bool blockingTransfers = false;
  /// Where functions are known one by one, modelled or measured, `chunks` says nothing: of what runs a
  /// function by kind and chunk, of a message by its send's, of a sum by kind and set of stages. What is not
  /// here takes no time.
  std::map<std::pair<ActionKind, int64_t>, double> entries;

  StepTimes(ActionTimes times = ActionTimes()) : chunks{times} {}
  StepTimes(double forward, double backwardInput, double backwardWeight, double transfer)
      : StepTimes(ActionTimes{forward, backwardInput, backwardWeight, transfer}) {}
  const ActionTimes &of(int64_t chunk) const {
    return chunks.size() == 1 ? chunks.front() : chunks[size_t(chunk)];
  }

  /// How long an action keeps its stage: what runs a function, and sums; not the parts of a message.
  double getDuration(const Action &action) const;
  double getTransfer(const Message &message) const;
};

} // namespace mlir::par

#endif // PAR_SCHEDULE_STEPTIMES_H
