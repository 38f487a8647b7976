/// Tells those who measure a step, a profile and a trace, what happened when.
#ifndef PAR_CORE_STEPMARKS_H
#define PAR_CORE_STEPMARKS_H

#include "core/Profile.h"
#include "core/Trace.h"
#include "device/Accelerator.h"

namespace par::rt {

struct StepMark {
  enum class Kind {
    work, ///< of the program's list; profiles know its class
    rest, ///< none of it
    message,
    sum, ///< over stages
    action,
    messageBegin,
    messageEnd,
    collectiveBegin,
    collectiveEnd
  };
  Kind kind;
  int64_t number = 0; ///< of the work, action, message or collective
};

/// On a processor a mark is told when the program makes it. A device behind the host gets it into its queue:
/// when it came there is known at the end of the step. A step that the device replays has the marks of the
/// one that was recorded.
class StepMarks {
public:
  using Clock = std::chrono::steady_clock;

  /// Either may be null. `accelerator`: null for a processor.
  StepMarks(Profile *profile, Trace *trace, device::Accelerator *accelerator)
      : profile(profile), trace(trace), accelerator(accelerator) {}

  /// A step begins.
  void begin() { isNew = true; }
  /// `at`: when it was, on a processor. On a device it is when `queue` comes here.
  io::Status mark(StepMark mark, device::Queue &queue, Clock::time_point at = Clock::now());
  /// Behind all that the step has put into `compute`.
  io::Status close(device::Queue &compute);
  /// The device has done all of it.
  io::Status tellAll();

private:
  void tell(StepMark mark, Clock::time_point at);

  Profile *profile;
  Trace *trace;
  device::Accelerator *accelerator;
  std::vector<StepMark> marks; ///< of the device, by the numbers of their stamps
  bool isNew = true;           ///< what is marked next takes the place of the marks before
};

} // namespace par::rt
#endif
