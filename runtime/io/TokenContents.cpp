#include "io/TokenContents.h"

#include <algorithm>
#include <cstring>

namespace par::io {

/// So many tokens decide; those of the whole file would say the same.
static constexpr size_t mostWords = size_t(1) << 17;

template <typename T>
static T wordOf(std::string_view bytes, size_t number) {
  T word;
  std::memcpy(&word, bytes.data() + number * sizeof(T), sizeof(T));
  return word;
}

/// Of tokens of 32 (or 64) bits with ids below 65,536 every second word of 16 bits is 0. Tokens of 16 bits
/// are never so, but where most of them are 0, or in a file of a few: enough others have to be there, and
/// none beside another.
static bool areWide(std::string_view bytes) {
  if (bytes.size() % 4 != 0)
    return false;
  size_t others = 0, pairs = 0, all = bytes.size() / 4;
  for (; pairs < all && (pairs < mostWords || others == 0); ++pairs) {
    if (wordOf<uint16_t>(bytes, 2 * pairs + 1) != 0)
      return false;
    others += wordOf<uint16_t>(bytes, 2 * pairs) != 0;
  }
  return others >= 16 || (others >= 4 && 3 * others >= pairs);
}

/// Two tokens of 16 bits in one word of 32 are beyond any vocabulary, unless the second is nearly 0.
static bool areNarrow(std::string_view bytes, uint32_t vocabulary) {
  size_t beyond = 0, words = std::min(bytes.size() / 4, mostWords);
  for (size_t i = 0; i < words; ++i)
    beyond += wordOf<uint32_t>(bytes, i) >= vocabulary;
  return words >= 4 && 2 * beyond > words;
}

TokenType apparentType(std::string_view bytes, TokenType read, uint32_t vocabulary) {
  if (read == TokenType::uint16 && areWide(bytes))
    return TokenType::uint32;
  if (read == TokenType::uint32 && areNarrow(bytes, vocabulary))
    return TokenType::uint16;
  return read;
}

} // namespace par::io
