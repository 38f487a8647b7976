#include "cpu/CpuDevice.h"

#include "cpu/Context.h"
#include "cpu/ThreadMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace par::cpu {

using device::Address;

CpuDevice::CpuDevice(const CpuDeviceOptions &given) : options(given) {
  if (options.threads > 1)
    pool = std::make_unique<Pool>(options.threads);
  prepareThreadMemory(pool.get());
}

/// Memory in huge pages where it fills some and the system gives them: rows of a matrix are often pages
/// apart, and products lose up to a quarter of their speed to misses of the TLB.
bool CpuDevice::allocate(device::Space, size_t bytes, Address &begin) {
  constexpr size_t hugePage = size_t(2) << 20, line = 64;
  void *memory = nullptr;
  if (posix_memalign(&memory, bytes < hugePage ? line : hugePage, bytes) != 0)
    return false;
  if (bytes >= hugePage)
    madvise(memory, bytes / hugePage * hugePage, MADV_HUGEPAGE); // advice: without it all works as well
  begin = fromProgram(memory);
  return true;
}

void CpuDevice::free(device::Space, Address begin) { std::free(pointer(begin)); }

void CpuDevice::read(void *to, Address from, size_t bytes) { std::memcpy(to, pointer(from), bytes); }

void CpuDevice::write(Address to, const void *from, size_t bytes) { std::memcpy(pointer(to), from, bytes); }

void CpuDevice::fill(Address to, uint32_t word, size_t bytes) { fillWords(pointer(to), word, bytes); }

std::unique_ptr<device::Queue> CpuDevice::makeQueue(size_t most, device::QueueHooks hooks) {
  return std::make_unique<device::WorkQueue>(most, std::move(hooks));
}

uint64_t CpuDevice::copy(device::Queue &where, Address to, Address from, size_t bytes) {
  return where.enqueue([target = pointer(to), source = pointer(from), bytes] {
    std::memcpy(target, source, bytes);
    return io::Status();
  });
}

void fillWords(char *begin, uint32_t word, size_t bytes) {
  if (word == (word & 0xFF) * 0x01010101u) {
    std::memset(begin, int(word & 0xFF), bytes);
    return;
  }
  // Of one size each, so that they become vectors: arenas are painted so, and dead ranges poisoned.
  size_t whole = bytes / sizeof word * sizeof word;
  for (size_t at = 0; at < whole; at += sizeof word)
    std::memcpy(begin + at, &word, sizeof word);
  std::memcpy(begin + whole, &word, bytes - whole);
}

} // namespace par::cpu
