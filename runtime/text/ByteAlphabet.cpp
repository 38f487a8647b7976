#include "text/ByteAlphabet.h"

#include "text/Utf8.h"

#include <array>

namespace par::text {

namespace {
struct Alphabet {
  std::array<uint32_t, 256> character;
  std::array<int, 512> byte; ///< -1: stands for none

  Alphabet() {
    byte.fill(-1);
    uint32_t next = 256;
    for (int b = 0; b < 256; ++b) {
      bool prints = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xFF && b != 0xAD);
      character[size_t(b)] = prints ? uint32_t(b) : next++;
      byte[character[size_t(b)]] = b;
    }
  }
};
} // namespace

static const Alphabet &alphabet() {
  static const Alphabet instance;
  return instance;
}

uint32_t characterOf(unsigned char byte) { return alphabet().character[byte]; }

bool bytesOfToken(std::string_view token, std::string &bytes) {
  bytes.clear();
  for (size_t at = 0; at < token.size();) {
    uint32_t c = nextCodePoint(token, at);
    if (c >= alphabet().byte.size() || alphabet().byte[c] < 0)
      return false;
    bytes += char(alphabet().byte[c]);
  }
  return true;
}

} // namespace par::text
