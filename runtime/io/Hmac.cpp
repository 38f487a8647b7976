#include "par/io/Hmac.h"

#include "par/io/Sha256.h"

#include <cerrno>
#include <cstdlib>
#include <sys/random.h>

namespace par::io {

static std::string digest(std::string_view first, std::string_view second) {
  Sha256 hash;
  hash.update(first.data(), first.size());
  hash.update(second.data(), second.size());
  return hash.finishBytes();
}

std::string hmacSha256(std::string_view key, std::string_view message) {
  constexpr size_t block = 64;
  std::string padded = key.size() > block ? digest(key, "") : std::string(key);
  padded.resize(block, '\0');
  std::string inner = padded, outer = padded;
  for (size_t i = 0; i < block; ++i)
    inner[i] = char(inner[i] ^ 0x36), outer[i] = char(outer[i] ^ 0x5c);
  return digest(outer, digest(inner, message));
}

bool equalInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size())
    return false;
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | static_cast<unsigned char>(a[i] ^ b[i]));
  return difference == 0;
}

std::string randomBytes(size_t count) {
  std::string bytes(count, '\0');
  for (size_t have = 0; have < count;) {
    ssize_t got = getrandom(bytes.data() + have, count - have, 0);
    if (got > 0)
      have += size_t(got);
    else if (errno != EINTR)
      std::abort(); // no kernel that runs this program lacks it; guessable secrets would be worse
  }
  return bytes;
}

} // namespace par::io
