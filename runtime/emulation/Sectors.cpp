#include "emulation/Sectors.h"

#include <algorithm>

namespace par::emulation {

void Sectors::touch(uint32_t thread, uint64_t address, uint32_t bytes, int kind, const char *place) {
  constexpr uint32_t warpSize = 32;
  uint32_t time = times[{place, thread}]++;
  Fetched &fetched = instructions[{place, thread / warpSize, time}];
  fetched.kind = kind;
  for (uint64_t next, end = address + bytes; address < end; address = next) {
    next = std::min(end, (address / sectorBytes + 1) * sectorBytes);
    uint64_t bits = (uint64_t(1) << (next - address)) - 1;
    fetched.sectors[address / sectorBytes * sectorBytes] |= uint32_t(bits << address % sectorBytes);
  }
}

void Sectors::finish(const par_emulation &how) {
  for (const auto &[instruction, fetched] : instructions)
    for (auto [address, used] : fetched.sectors)
      how.sector(how.state, address, used, fetched.kind);
  instructions.clear();
  times.clear();
}

} // namespace par::emulation
