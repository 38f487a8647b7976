/// --trace: what a rank did when, kept in memory that is there before the first step.
#ifndef PAR_CORE_TRACE_H
#define PAR_CORE_TRACE_H

#include "core/Manifest.h"
#include "par/BegunMessages.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace par::rt {

/// Where an event is shown.
enum class TraceTrack : int32_t { action, message, collective };

/// All members are 64-bit words once two of 32 are taken together, so that ranks gather events as such.
struct TraceEvent {
  int64_t begin = 0, end = -1; ///< nanoseconds of the system's clock; -1: it has not ended
  int64_t step = 0;
  int32_t action = 0; ///< number of the entry in the list of its schedule
  TraceTrack track = TraceTrack::action;
  int64_t number = 0; ///< of the action in the manifest, the message or the collective
};

/// The events of one rank, the last `most` of them. Nothing is allocated once it is made.
class Trace {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t mostEvents = 1 << 16;
  explicit Trace(const Program &program, size_t most = mostEvents);

  void beginStep(int64_t step);
  void endStep();
  /// The next entry begins, and the one before it has ended.
  void enter(int32_t action, Clock::time_point at = Clock::now());
  /// A message begins at this end, by the present entry; messages of a number end in the order in which they
  /// begin.
  void startMessage(size_t message, Clock::time_point at = Clock::now());
  void endMessage(size_t message, Clock::time_point at);
  void startCollective(size_t collective, Clock::time_point at = Clock::now());
  void endCollective(size_t collective, Clock::time_point at = Clock::now());

  /// Those that have ended, in the order in which they began.
  std::vector<TraceEvent> events() const;
  /// How many earlier ones had no room.
  uint64_t lost() const { return given > ring.size() ? given - ring.size() : 0; }

  /// Nanoseconds of a clock that the processes of a machine share. It goes on steadily, whatever is done to
  /// the system's.
  static int64_t now() { return nanoseconds(Clock::now()); }
  static int64_t nanoseconds(Clock::time_point at);

private:
  static constexpr uint64_t none = UINT64_MAX;
  uint64_t begin(TraceTrack track, int64_t number, int64_t at);
  void end(uint64_t event, int64_t at);

  std::vector<TraceEvent> ring;
  uint64_t given = 0; ///< events so far; event n lies at n modulo the ring's size
  std::vector<par_begun_messages<uint64_t>>
      messages;                      ///< by entry of the manifest's list: events of what is under way
  std::vector<uint64_t> collectives; ///< the event that is under way, by number
  int64_t step = 0;
  int32_t first = -1; ///< number of the schedule's first entry in the manifest; -1 before it
  int32_t present = 0;
  uint64_t open = none; ///< the present action's
};

} // namespace par::rt
#endif
