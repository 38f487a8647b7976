#include "core/Trace.h"

#include <algorithm>

namespace par::rt {

Trace::Trace(const Program &program, size_t most)
    : ring(most),
      messages(program.messages.size(), par_begun_messages<uint64_t>(par_most_messages_under_way)),
      collectives(program.collectives.size(), none) {
  now(); // the clocks are compared once, before anything is measured
}

int64_t Trace::nanoseconds(Clock::time_point at) {
  using namespace std::chrono;
  auto count = [](auto time) {
    return int64_t(duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
  };
  static const int64_t offset = count(system_clock::now()) - count(steady_clock::now());
  return offset + count(at);
}

void Trace::beginStep(int64_t number) {
  step = number, first = -1;
  open = none;
}

void Trace::endStep() {
  end(open, now());
  open = none;
}

void Trace::enter(int32_t action, Clock::time_point at) {
  if (first < 0)
    first = action;
  end(open, nanoseconds(at));
  present = action - first;
  open = begin(TraceTrack::action, action, nanoseconds(at));
}

void Trace::startMessage(size_t message, Clock::time_point at) {
  messages[message].begin(begin(TraceTrack::message, int64_t(message), nanoseconds(at)));
}

void Trace::endMessage(size_t message, Clock::time_point at) {
  if (std::optional<uint64_t> event = messages[message].end())
    end(*event, nanoseconds(at));
}

void Trace::startCollective(size_t collective, Clock::time_point at) {
  collectives[collective] = begin(TraceTrack::collective, int64_t(collective), nanoseconds(at));
}

void Trace::endCollective(size_t collective, Clock::time_point at) {
  end(collectives[collective], nanoseconds(at));
}

uint64_t Trace::begin(TraceTrack track, int64_t number, int64_t at) {
  TraceEvent &event = ring[given % ring.size()];
  event = {at, -1, step, present, track, number};
  return given++;
}

void Trace::end(uint64_t event, int64_t at) {
  if (event != none && given - event <= ring.size()) // else its place has another one
    ring[event % ring.size()].end = at;
}

std::vector<TraceEvent> Trace::events() const {
  std::vector<TraceEvent> kept;
  for (uint64_t event = lost(); event < given; ++event)
    if (const TraceEvent &one = ring[event % ring.size()]; one.end >= one.begin)
      kept.push_back(one);
  return kept;
}

} // namespace par::rt
