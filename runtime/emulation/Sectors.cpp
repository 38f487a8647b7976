#include "emulation/Sectors.h"

namespace par::emulation {

void Sectors::touch(uint32_t thread, uint64_t address, uint32_t bytes, int kind, const char *place) {
  constexpr uint32_t warpSize = 32;
  uint32_t time = times[{place, thread}]++;
  Fetched &fetched = instructions[{place, thread / warpSize, time}];
  fetched.kind = kind;
  for (uint64_t byte = address; byte < address + bytes; ++byte)
    fetched.sectors[byte / sectorBytes * sectorBytes] |= uint32_t(1) << byte % sectorBytes;
}

void Sectors::finish(const par_emulation &how) {
  for (const auto &[instruction, fetched] : instructions)
    for (auto [address, used] : fetched.sectors)
      how.sector(how.state, address, used, fetched.kind);
  instructions.clear();
  times.clear();
}

} // namespace par::emulation
