// What threads do together: barriers, shuffles, votes.
#include "emulation/Launch.h"

#include <algorithm>
#include <cstring>

namespace par::emulation {

enum Shuffle : uint32_t { Butterfly, Down, Up, Indexed };
enum Vote : uint32_t { Ballot, All, Any, Least, Greatest };

/// PTX ISA, shfl.sync: in = value, how, b, clamp and segment mask.
static uint32_t findSource(const Thread &thread, bool &isValid) {
  uint32_t b = thread.in[2], segment = thread.in[3] >> 8 & 31, clamp = thread.in[3] & 31,
           lane = thread.lane();
  uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment, source = lane;
  switch (thread.in[1]) {
  case Butterfly:
    source = lane ^ (b & 31);
    isValid = source <= most;
    break;
  case Down:
    source = lane + (b & 31);
    isValid = source <= most;
    break;
  case Up:
    source = lane - (b & 31);
    isValid = int32_t(source) >= int32_t(most);
    break;
  default:
    source = least | (b & ~segment & 31);
    isValid = source <= most;
  }
  return source;
}

static void shuffle(Launch &launch, std::vector<Thread *> &lanes) {
  for (Thread *thread : lanes) {
    bool isValid;
    uint32_t source = findSource(*thread, isValid);
    const Thread *from = thread;
    if (isValid) {
      from = nullptr;
      for (const Thread *other : lanes)
        from = other->lane() == source ? other : from;
    }
    if (from) {
      thread->out[0] = from->in[0];
      continue;
    }
    thread->out[0] = 0xBADBAD;
    launch.current = thread;
    launch.report("shuffle from lane " + std::to_string(source) + ", which is not in the mask",
                  thread->place);
  }
}

static void vote(std::vector<Thread *> &lanes) {
  uint32_t ballot = 0, all = 0;
  int32_t least = int32_t(lanes.front()->in[0]), greatest = least;
  for (const Thread *thread : lanes) {
    ballot |= uint32_t(thread->in[0] != 0) << thread->lane();
    all |= 1u << thread->lane();
    least = std::min(least, int32_t(thread->in[0]));
    greatest = std::max(greatest, int32_t(thread->in[0]));
  }
  const uint32_t results[] = {ballot, ballot == all, ballot != 0, uint32_t(least), uint32_t(greatest)};
  for (Thread *thread : lanes)
    thread->out[0] = results[thread->in[1]];
}

void exchange(Launch &launch, std::vector<Thread *> &lanes) {
  if (lanes.empty())
    return;
  switch (lanes.front()->action) {
  case WarpAction::Sync:
    for (Thread *thread : lanes)
      ++thread->warpEpoch;
    break;
  case WarpAction::Shuffle:
    shuffle(launch, lanes);
    break;
  case WarpAction::Vote:
    vote(lanes);
    break;
  case WarpAction::LoadMatrices:
    loadMatrices(lanes);
    break;
  case WarpAction::Multiply:
    multiply(lanes);
    break;
  }
}

Thread &doTogether(WarpAction action, uint32_t mask, std::initializer_list<uint32_t> words,
                   const char *place) {
  Thread &thread = *launch->current;
  if (!(mask >> thread.lane() & 1))
    launch->report("a lane that its own mask does not name", place);
  thread.action = action;
  thread.mask = mask;
  std::copy(words.begin(), words.end(), thread.in);
  launch->wait(State::InWarp, place);
  return thread;
}

static uint32_t together(WarpAction action, uint32_t mask, uint32_t value, uint32_t how, uint32_t b,
                         uint32_t c, const char *place) {
  return doTogether(action, mask, {value, how, b, c}, place).out[0];
}

template <typename To, typename From>
static To cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

} // namespace par::emulation

using namespace par::emulation;

extern "C" {
void par_emulate_barrier(const char *place) { launch->wait(State::InBarrier, place); }
void par_emulate_warp_sync(uint32_t mask, const char *place) {
  together(WarpAction::Sync, mask, 0, 0, 0, 0, place);
}

#define SHUFFLE(name, how)                                                                                   \
  uint32_t par_emulate_shuffle_##name##_i32(uint32_t mask, uint32_t value, uint32_t b, uint32_t c,           \
                                            const char *place) {                                             \
    return together(WarpAction::Shuffle, mask, value, how, b, c, place);                                     \
  }                                                                                                          \
  float par_emulate_shuffle_##name##_f32(uint32_t mask, float value, uint32_t b, uint32_t c,                 \
                                         const char *place) {                                                \
    return cast<float>(together(WarpAction::Shuffle, mask, cast<uint32_t>(value), how, b, c, place));        \
  }
SHUFFLE(bfly, Butterfly)
SHUFFLE(down, Down)
SHUFFLE(up, Up)
SHUFFLE(idx, Indexed)

uint32_t par_emulate_vote_ballot(uint32_t mask, bool value, const char *place) {
  return together(WarpAction::Vote, mask, value, Ballot, 0, 0, place);
}
bool par_emulate_vote_all(uint32_t mask, bool value, const char *place) {
  return together(WarpAction::Vote, mask, value, All, 0, 0, place);
}
/// PTX ISA, redux.sync.min.s32.
uint32_t par_emulate_reduce_min(uint32_t value, uint32_t mask, const char *place) {
  return together(WarpAction::Vote, mask, value, Least, 0, 0, place);
}
uint32_t par_emulate_reduce_max(uint32_t value, uint32_t mask, const char *place) {
  return together(WarpAction::Vote, mask, value, Greatest, 0, 0, place);
}
bool par_emulate_vote_any(uint32_t mask, bool value, const char *place) {
  return together(WarpAction::Vote, mask, value, Any, 0, 0, place);
}
}
