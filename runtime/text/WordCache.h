/// Symbols of words that were encoded before. Text repeats its words, so this is most of an encoder's speed.
#ifndef PAR_TEXT_WORDCACHE_H
#define PAR_TEXT_WORDCACHE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace par::text {

/// Bounded: when it is full it forgets everything. Used by one thread.
class WordCache {
public:
  WordCache();
  static constexpr size_t longestWord = 64;

  /// Appends the symbols of a word that is known; else returns false.
  bool append(std::string_view word, std::vector<uint32_t> &ids) const;
  /// Remembers a word of at most `longestWord` bytes that `append` did not know.
  void insert(std::string_view word, const uint32_t *ids, size_t count);

private:
  struct Entry {
    uint32_t hash = 0, word = 0, ids = 0; ///< offsets
    uint8_t length = 0, count = 0;        ///< a length of 0: free
  };
  static constexpr size_t slots = 1 << 19;
  size_t find(std::string_view word, uint32_t hash) const;
  void clear();

  std::vector<Entry> entries;
  std::string words;
  std::vector<uint32_t> symbols;
  size_t used = 0;
};

} // namespace par::text
#endif
