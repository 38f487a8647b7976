#include "emulation/Buffers.h"

#include <algorithm>

namespace par::emulation {

uint64_t Buffers::add(void *host, uint64_t bytes, BufferRole role) {
  buffers.push_back({static_cast<char *>(host),
                     bytes,
                     role,
                     std::vector<bool>(role == BufferRole::Write ? bytes : 0),
                     {},
                     {}});
  return reinterpret_cast<uint64_t>(host) ^ distance;
}

par_emulation Buffers::describe(par_emulation_order order, uint32_t seed) {
  auto access = [](void *state, uint64_t address, uint32_t bytes, uint32_t, int kind, const char *place) {
    return static_cast<Buffers *>(state)->access(address, bytes, kind, place);
  };
  auto report = [](void *state, const char *text) {
    static_cast<Buffers *>(state)->findings.push_back(text);
  };
  auto sector = [](void *state, uint64_t address, uint32_t used, int) {
    static_cast<Buffers *>(state)->addSector(address, used);
  };
  return {order, seed, access, report, this, sector};
}

/// To the first buffer that has a byte of it.
void Buffers::addSector(uint64_t address, uint32_t used) {
  char *first = reinterpret_cast<char *>(address ^ distance) + __builtin_ctz(used);
  for (Buffer &buffer : buffers)
    if (first >= buffer.host && first < buffer.host + buffer.bytes) {
      buffer.sectors.fetched += 32;
      buffer.sectors.used += uint64_t(__builtin_popcount(used));
      return;
    }
}

void Buffers::find(const std::string &what, const char *place) {
  std::string text = what + " at " + place;
  if (std::find(findings.begin(), findings.end(), text) == findings.end())
    findings.push_back(text);
}

/// Where buffers share bytes, one that allows the access is enough.
void *Buffers::access(uint64_t address, uint32_t bytes, int kind, const char *place) {
  static const char *const kinds[] = {"load", "store", "atomic"};
  char *host = reinterpret_cast<char *>(address ^ distance);
  bool isInside = false, isAllowed = false, isWritten = false;
  for (Buffer &buffer : buffers) {
    if (host < buffer.host || host + bytes > buffer.host + buffer.bytes)
      continue;
    if (!isInside)
      buffer.moved[bytes] += bytes;
    isInside = true;
    isAllowed |= kind == par_emulation_load || buffer.role != BufferRole::Read;
    auto first = buffer.written.begin() + (host - buffer.host) * (buffer.role == BufferRole::Write);
    if (buffer.role != BufferRole::Write)
      isWritten = true;
    else if (kind == par_emulation_store)
      std::fill(first, first + bytes, true);
    else
      isWritten |= std::find(first, first + bytes, false) == first + bytes;
  }
  if (!isInside)
    find(std::string(kinds[kind]) + " of " + std::to_string(bytes) + " bytes outside all buffers", place);
  else if (!isAllowed)
    find(std::string(kinds[kind]) + " in a buffer that is only read", place);
  else if (kind != par_emulation_store && !isWritten)
    find(std::string(kinds[kind]) + " of bytes that nobody wrote", place);
  return isInside && isAllowed ? host : nullptr;
}

void Buffers::finish() {
  for (size_t number = 0; number < buffers.size(); ++number) {
    const std::vector<bool> &written = buffers[number].written;
    if (auto missing = std::count(written.begin(), written.end(), false))
      findings.push_back("buffer " + std::to_string(number) + ": " + std::to_string(missing) + " of " +
                         std::to_string(written.size()) + " bytes were not written");
  }
}

} // namespace par::emulation
