/// Memory of the devices and pinned memory of the host. A device's addresses are no pointers: nothing is
/// mapped there.
#ifndef PAR_STANDIN_MEMORY_H
#define PAR_STANDIN_MEMORY_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace par::standin {

/// What is known of a byte.
enum class Byte : uint8_t {
  untouched, ///< nobody wrote it
  painted,   ///< filled with a word that means nothing (runtime's paint and poison)
  written
};

struct Block {
  uint64_t begin = 0, bytes = 0; ///< as the device knows it
  char *host = nullptr;
  int device = 0;             ///< that has it; -1: pinned memory of the host
  int number = 0;             ///< for messages
  std::vector<Byte> contents; ///< empty for pinned memory, which the host writes unseen

  bool isPinned() const { return device < 0; }
  bool contains(uint64_t address, uint64_t size) const {
    return address >= begin && address - begin <= bytes && size <= bytes - (address - begin);
  }
};

class Memory {
public:
  ~Memory();

  /// Null where the device has not so much left.
  Block *allocate(int device, uint64_t bytes, uint64_t capacity);
  Block *allocatePinned(uint64_t bytes);
  void free(const Block &block);

  /// The block that has all of these bytes, or null.
  Block *find(uint64_t address, uint64_t bytes);
  /// The block that begins there, or null.
  Block *at(uint64_t begin);
  /// Why `find` says null: "an address of the host", "beyond the end of device memory 3", ...
  std::string why(uint64_t address, uint64_t bytes) const;
  /// "device memory 3 + 64"
  static std::string name(const Block &block, uint64_t address);

  uint64_t used(int device) const;

private:
  std::map<uint64_t, Block> blocks; ///< by begin
  std::map<uint64_t, Block> freed;  ///< the last ones at their addresses
  int numbers = 0;
};

} // namespace par::standin
#endif
