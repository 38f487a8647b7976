#include "core/StepMarks.h"

namespace par::rt {

io::Status StepMarks::mark(StepMark mark, device::Queue &queue, Clock::time_point at) {
  if (!accelerator) {
    tell(mark, at);
    return {};
  }
  if (isNew)
    marks.clear();
  isNew = false;
  marks.push_back(mark);
  return accelerator->stamp(queue, marks.size() - 1);
}

io::Status StepMarks::close(device::Queue &compute) {
  return accelerator && !marks.empty() ? accelerator->stamp(compute, marks.size()) : io::Status();
}

/// The device's clock begins somewhere: its last stamp is now.
io::Status StepMarks::tellAll() {
  if (!accelerator || marks.empty())
    return {};
  double total = 0;
  if (io::Status status = accelerator->elapsed(0, marks.size(), total); !status.ok())
    return status;
  Clock::time_point now = Clock::now();
  for (size_t number = 0; number < marks.size(); ++number) {
    double seconds = 0;
    if (io::Status status = accelerator->elapsed(0, number, seconds); !status.ok())
      return status;
    tell(marks[number],
         now - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(total - seconds)));
  }
  return {};
}

void StepMarks::tell(StepMark mark, Clock::time_point at) {
  auto number = size_t(mark.number);
  switch (mark.kind) {
  case StepMark::Kind::work:
    return profile ? profile->work(int32_t(mark.number), at) : void();
  case StepMark::Kind::rest:
    return profile ? profile->rest(at) : void();
  case StepMark::Kind::message:
    return profile ? profile->message(at) : void();
  case StepMark::Kind::sum:
    return profile ? profile->sum(at) : void();
  case StepMark::Kind::action:
    return trace ? trace->enter(int32_t(mark.number), at) : void();
  case StepMark::Kind::messageBegin:
    return trace ? trace->startMessage(number, at) : void();
  case StepMark::Kind::messageEnd:
    return trace ? trace->endMessage(number, at) : void();
  case StepMark::Kind::collectiveBegin:
    return trace ? trace->startCollective(number, at) : void();
  case StepMark::Kind::collectiveEnd:
    return trace ? trace->endCollective(number, at) : void();
  }
}

} // namespace par::rt
