/// What instructions of warps fetch: the accesses of a warp's lanes joined into sectors of 32 bytes.
#ifndef PAR_EMULATION_SECTORS_H
#define PAR_EMULATION_SECTORS_H

#include "par/emulation.h"

#include <map>
#include <tuple>
#include <utility>

namespace par::emulation {

constexpr uint32_t sectorBytes = 32;

/// Of the block that runs. Threads run one after the other, so what lanes do together is known afterwards:
/// the nth time that each of them comes to an instruction is one instruction of the warp.
class Sectors {
public:
  void touch(uint32_t thread, uint64_t address, uint32_t bytes, int kind, const char *place);
  /// Says all sectors to whoever asked for them, at the end of a block.
  void finish(const par_emulation &how);

private:
  struct Instruction {
    const char *place;
    uint32_t warp, time;
    bool operator<(const Instruction &other) const {
      return std::tie(place, warp, time) < std::tie(other.place, other.warp, other.time);
    }
  };
  struct Fetched {
    int kind = par_emulation_load;
    std::map<uint64_t, uint32_t> sectors; ///< by address: a bit for each byte that lanes access
  };

  std::map<std::pair<const char *, uint32_t>, uint32_t> times; ///< by place and thread
  std::map<Instruction, Fetched> instructions;
};

} // namespace par::emulation

#endif
