// Loads, stores and atomics.
#include "emulation/Launch.h"

namespace par::emulation {

static const char *const kinds[] = {"load", "store", "atomic"};

/// Where an access goes that may not be.
static thread_local char nowhere[256];

Moment Launch::now() const {
  return {blockNumber, current->number, current->warp(), barriers, current->warpEpoch};
}

void *Launch::access(uint64_t address, uint32_t bytes, uint32_t alignment, int kind, const char *place) {
  if (address % alignment)
    report(std::string(kinds[kind]) + " of " + std::to_string(bytes) +
               " bytes at an address that is no multiple of " + std::to_string(alignment),
           place);
  if (address >= sharedWindow)
    return accessShared(address, bytes, kind, place);
  uint64_t stack = reinterpret_cast<uint64_t>(current->stack);
  if (address >= stack && address + bytes <= stack + Stacks::bytes)
    return reinterpret_cast<void *>(address); // a thread's own
  void *host = how.access(how.state, address, bytes, alignment, kind, place);
  if (!host)
    return nowhere;
  if (how.sector)
    sectors.touch(current->number, address, bytes, kind, place);
  if (globalShadow.touch(address, bytes, kind, now()).isRace)
    report(std::string("race: ") + kinds[kind] + " of what another thread of the launch touches, in no order",
           place);
  return host;
}

void *Launch::accessShared(uint64_t address, uint32_t bytes, int kind, const char *place) {
  uint64_t offset = address - sharedWindow;
  if (offset + bytes > shared.size() - 256) {
    report(std::string(kinds[kind]) + " outside the shared memory of the block", place);
    return nowhere;
  }
  Meeting meeting = sharedShadow.touch(address, bytes, kind, now());
  if (meeting.isRace)
    report(std::string("race in shared memory: ") + kinds[kind] +
               " of what another thread of the block touches, with no barrier between",
           place);
  if (meeting.isUnwritten)
    report("load of shared memory that nobody wrote", place);
  return shared.data() + offset;
}

} // namespace par::emulation

extern "C" void *par_emulate_access(uint64_t address, uint32_t bytes, uint32_t alignment, int32_t kind,
                                    const char *place) {
  return par::emulation::launch->access(address, bytes, alignment, kind, place);
}
