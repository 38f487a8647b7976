#include "standin/Memory.h"

#include "standin/Report.h"

#include <cstring>
#include <sys/mman.h>

namespace par::standin {

/// Flips the high bits of an address: no processor takes what comes out of it for a pointer. Each device has
/// its own.
static uint64_t apart(int device) { return uint64_t(0x4100 + device) << 48; }

static uint64_t wholePages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

static char *map(uint64_t bytes) {
  void *host = mmap(nullptr, wholePages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (host == MAP_FAILED)
    return nullptr;
  std::memset(host, 0xCD, bytes); // no zeros: what is not written has to show
  return static_cast<char *>(host);
}

Memory::~Memory() {
  for (auto &entry : blocks)
    munmap(entry.second.host, wholePages(entry.second.bytes));
}

Block *Memory::allocate(int device, uint64_t bytes, uint64_t capacity) {
  uint64_t taken = used(device);
  char *host = bytes <= capacity && taken <= capacity - bytes ? map(bytes) : nullptr;
  if (!host)
    return nullptr;
  Block block;
  block.begin = reinterpret_cast<uint64_t>(host) ^ apart(device);
  block.bytes = bytes, block.host = host, block.device = device, block.number = ++numbers;
  block.contents.assign(bytes, Byte::untouched);
  freed.erase(block.begin);
  return &(blocks[block.begin] = std::move(block));
}

Block *Memory::allocatePinned(uint64_t bytes) {
  char *host = map(bytes);
  if (!host)
    return nullptr;
  Block block;
  block.begin = reinterpret_cast<uint64_t>(host);
  block.bytes = bytes, block.host = host, block.device = -1, block.number = ++numbers;
  freed.erase(block.begin);
  return &(blocks[block.begin] = std::move(block));
}

void Memory::free(const Block &block) {
  munmap(block.host, wholePages(block.bytes));
  Block &gone = freed[block.begin] = block;
  gone.contents.clear();
  blocks.erase(gone.begin);
}

/// The last one that begins at or before an address.
template <typename Blocks>
static auto before(Blocks &blocks, uint64_t address) {
  auto found = blocks.upper_bound(address);
  return found == blocks.begin() ? blocks.end() : std::prev(found);
}

Block *Memory::find(uint64_t address, uint64_t bytes) {
  auto found = before(blocks, address);
  return found != blocks.end() && found->second.contains(address, bytes) ? &found->second : nullptr;
}

Block *Memory::at(uint64_t begin) {
  auto found = blocks.find(begin);
  return found == blocks.end() ? nullptr : &found->second;
}

std::string Memory::name(const Block &block, uint64_t address) {
  return (block.isPinned() ? "pinned memory " : "device memory ") + std::to_string(block.number) + " + " +
         std::to_string(address - block.begin);
}

std::string Memory::why(uint64_t address, uint64_t bytes) const {
  std::string many = std::to_string(bytes) + " bytes at ";
  auto live = before(blocks, address);
  if (live != blocks.end() && live->second.contains(address, 0))
    return many + name(live->second, address) + ", which has " + std::to_string(live->second.bytes) +
           " bytes";
  auto gone = before(freed, address);
  if (gone != freed.end() && gone->second.contains(address, bytes))
    return many + name(gone->second, address) + ", which was freed";
  if (address == 0)
    return many + "address 0";
  bool isPointer = address < uint64_t(1) << 47;
  return many + hex(address) + ", " +
         (isPointer ? "an address of the host that is not pinned" : "which is no memory of a device");
}

uint64_t Memory::used(int device) const {
  uint64_t bytes = 0;
  for (const auto &entry : blocks)
    bytes += entry.second.device == device ? entry.second.bytes : 0;
  return bytes;
}

} // namespace par::standin
