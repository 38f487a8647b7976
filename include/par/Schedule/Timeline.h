//===- Timeline.h - what stages do, in time ---------------------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_TIMELINE_H
#define PAR_SCHEDULE_TIMELINE_H

#include "par/Schedule/StepTimes.h"

namespace mlir::par {

struct TimedAction {
  Action action;
  double begin, end;
};

/// From when both ends have begun, and the one before in their queue is over, to when it is there.
struct TimedMessage {
  ActionPlace send, receive; ///< the entries that begin it
  double begin, end;
};

struct Timeline {
  std::vector<std::vector<TimedAction>> stages; ///< an entry for each of the lists
  std::vector<TimedMessage> messages;           ///< of whole steps, queue by queue
  double end = 0;                               ///< of the last action
  double work = 0;                              ///< of a stage, on average: what it computes
  /// From the first to the last action of the stage for which that takes longest: what a step costs if
  /// optimizers need not wait for each other (2401.10241, section 4).
  double longestSpan = 0;
  /// By stage: the most chunks of micro-batches whose activations are held at once, in whole micro-batches.
  std::vector<double> peakLive;
};

/// Replays the lists: an action begins when its stage is free and what it needs has arrived. Fails if an
/// action is missing, twice or on a wrong stage, and if stages wait for each other; the error then names the
/// cycle. `faults` gets the actions that an error is about.
///
/// Lists of a whole step are held to all of it. There the messages from one stage to another stand in a
/// queue: each begins when both ends have begun it and the one before it is over. If transfers occupy the
/// stage that sends, the entry that begins a send is as long as the transfer. Sums begin when all of their
/// stages have come to them.
llvm::Expected<Timeline> replaySchedule(const PipelineSchedule &schedule, const StepTimes &times,
                                        llvm::SmallVectorImpl<ActionPlace> *faults = nullptr);

/// Of stages that share cores: `timeline` with times that a stage takes that has a core for each of its ranks
/// becomes what it is with `ranksPerCore` > 1 ranks of all stages for each core. Stages that compute at once
/// get equal parts of the cores, so all are as much slower, and time is stretched without any other order
/// (processor sharing). Messages are stretched with it.
void shareCores(Timeline &timeline, double ranksPerCore);

} // namespace mlir::par

#endif // PAR_SCHEDULE_TIMELINE_H
