#include "core/Trace.h"

#include "core/Messages.h"

#include <algorithm>

namespace par::rt {

Trace::Trace(const Program &program, size_t most)
    : ring(most), messages(program.messages.size()), collectives(program.collectives.size(), none) {
  for (UnderWay &message : messages)
    message.events.resize(Messages::mostUnderWay);
  now(); // the clocks are compared once, before anything is measured
}

int64_t Trace::nanoseconds(std::chrono::steady_clock::time_point at) {
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

void Trace::enter(int32_t action) {
  if (first < 0)
    first = action;
  int64_t at = now();
  end(open, at);
  present = action - first;
  open = begin(TraceTrack::action, action);
  ring[open % ring.size()].begin = at;
}

void Trace::startMessage(size_t message) {
  UnderWay &one = messages[message];
  one.events[one.started++ % one.events.size()] = begin(TraceTrack::message, int64_t(message));
}

void Trace::endMessage(size_t message, std::chrono::steady_clock::time_point at) {
  UnderWay &one = messages[message];
  if (one.ended < one.started)
    end(one.events[one.ended++ % one.events.size()], nanoseconds(at));
}

void Trace::startCollective(size_t collective) {
  collectives[collective] = begin(TraceTrack::collective, int64_t(collective));
}

void Trace::endCollective(size_t collective) { end(collectives[collective], now()); }

uint64_t Trace::begin(TraceTrack track, int64_t number) {
  TraceEvent &event = ring[given % ring.size()];
  event = {now(), -1, step, present, track, number};
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
