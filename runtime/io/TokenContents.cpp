#include "io/TokenContents.h"

#include <algorithm>
#include <cstring>

namespace par::io {

/// So many tokens decide; those of the whole file would say the same.
static constexpr size_t mostWords = size_t(1) << 17;
/// Ids of 32 bits are below eight times 65,536, whatever the tokenizer.
static constexpr uint32_t highWords = 8;

template <typename T>
static T wordOf(std::string_view bytes, size_t number) {
  T word;
  std::memcpy(&word, bytes.data() + number * sizeof(T), sizeof(T));
  return word;
}

namespace {
/// Words of a file, counted by their places in pairs.
struct Pairs {
  size_t all = 0;
  size_t firsts = 0, seconds = 0;         ///< those that are not 0
  size_t highFirsts = 0, highSeconds = 0; ///< those that cannot be the upper half of an id
};
} // namespace

/// Padding at the beginning says nothing. Of a rest behind the last pair, neither.
template <typename T>
static Pairs countPairs(std::string_view bytes) {
  Pairs pairs;
  size_t there = bytes.size() / (2 * sizeof(T));
  for (; pairs.all < there && (pairs.all < mostWords || pairs.firsts == 0); ++pairs.all) {
    T first = wordOf<T>(bytes, 2 * pairs.all), second = wordOf<T>(bytes, 2 * pairs.all + 1);
    pairs.firsts += first != 0, pairs.seconds += second != 0;
    pairs.highFirsts += first >= highWords, pairs.highSeconds += second >= highWords;
  }
  return pairs;
}

/// Every second word is 0 where tokens are twice as wide and their ids below 65,536. Tokens of one word are
/// never so, but where most of them are 0, or in a file of a few: enough others have to be there, and next to
/// none beside another. A few larger ids, or damage, change nothing.
static bool areWide(const Pairs &pairs) {
  size_t others = pairs.firsts;
  return pairs.seconds * 16 <= others && (others >= 16 || (others >= 4 && 3 * others >= pairs.all));
}

/// Every second word of 16 bits is small where tokens have 32 bits and many ids from 65,536 on.
static bool haveHighHalves(const Pairs &pairs) {
  return pairs.highFirsts >= 16 && pairs.highSeconds * 64 <= pairs.highFirsts;
}

/// Two tokens of 16 bits in one word of 32 are beyond any vocabulary, unless the second is nearly 0. Words
/// that are 0 are padding.
static bool areNarrow(std::string_view bytes, uint32_t vocabulary) {
  uint32_t least = std::max(vocabulary, highWords << 16);
  size_t beyond = 0, others = 0, words = std::min(bytes.size() / 4, mostWords);
  for (size_t i = 0; i < words; ++i) {
    uint32_t word = wordOf<uint32_t>(bytes, i);
    others += word != 0, beyond += word >= least;
  }
  return beyond >= 3 && 3 * beyond > others;
}

int apparentBits(std::string_view bytes, TokenType read, uint32_t vocabulary) {
  bool is16 = read == TokenType::uint16, is32 = read == TokenType::uint32;
  if ((is16 || is32) && areWide(countPairs<uint32_t>(bytes)))
    return 64;
  Pairs pairs = is16 ? countPairs<uint16_t>(bytes) : Pairs();
  if (is16 && (areWide(pairs) || haveHighHalves(pairs)))
    return 32;
  if (is32 && areNarrow(bytes, vocabulary))
    return 16;
  return is16 ? 16 : is32 ? 32 : 8;
}

bool areLongIntegers(std::string_view bytes) {
  Pairs pairs = countPairs<uint32_t>(bytes);
  return areWide(pairs) && 8 * pairs.firsts >= pairs.all;
}

} // namespace par::io
