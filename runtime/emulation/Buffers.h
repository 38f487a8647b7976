/// The buffers of a launch, as an emulator's `access`: what a kernel may touch, and what it must write.
#ifndef PAR_EMULATION_BUFFERS_H
#define PAR_EMULATION_BUFFERS_H

#include "par/emulation.h"

#include <map>
#include <string>
#include <vector>

namespace par::emulation {

/// What a kernel does to a buffer, as the manifest's list `kernels` says it. Of what it writes, nothing is
/// there before; of what it updates, all.
enum class BufferRole { Read, Write, Update };

/// Bytes of sectors that instructions touch, and those of them that lanes access.
struct SectorUse {
  uint64_t fetched = 0, used = 0;
};

/// Device addresses of buffers are none of the host's.
class Buffers {
public:
  /// The address of `bytes` at `host`, of which the first `bytes` alone may be accessed. A buffer may be
  /// given twice, under two roles.
  uint64_t add(void *host, uint64_t bytes, BufferRole role);

  /// How a launch on these buffers is emulated.
  par_emulation describe(par_emulation_order order, uint32_t seed = 0);
  /// After a launch: adds a finding for each buffer of which bytes were not written.
  void finish();

  const std::vector<std::string> &getFindings() const { return findings; }
  /// Bytes of all loads and stores of a buffer together, by the width of the access. Where buffers share
  /// bytes, they are those of the first one.
  const std::map<uint32_t, uint64_t> &getBytesMoved(size_t buffer) const { return buffers[buffer].moved; }
  /// What instructions of warps have fetched and written of a buffer, in sectors of 32 bytes. Buffers begin
  /// where they do on the host: at multiples of 32, as on a device, if the numbers are to mean anything.
  SectorUse getSectorUse(size_t buffer) const { return buffers[buffer].sectors; }

private:
  struct Buffer {
    char *host;
    uint64_t bytes;
    BufferRole role;
    std::vector<bool> written;
    std::map<uint32_t, uint64_t> moved;
    SectorUse sectors;
  };
  static constexpr uint64_t distance = uint64_t(1) << 46; ///< between addresses of host and device
  void *access(uint64_t address, uint32_t bytes, int kind, const char *place);
  void addSector(uint64_t address, uint32_t used);
  void find(const std::string &what, const char *place);

  std::vector<Buffer> buffers;
  std::vector<std::string> findings;
};

} // namespace par::emulation

#endif
