/// Byte-pair encoding of one word (Sennrich, Haddow, Birch 2016): of all neighbouring pairs the one that was
/// learnt first becomes one symbol, the leftmost of equals, until no pair is left that was learnt.
#ifndef PAR_TEXT_BYTEPAIRMODEL_H
#define PAR_TEXT_BYTEPAIRMODEL_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace par::text {

/// What was learnt. Immutable once it is filled.
class BytePairModel {
public:
  struct Merge {
    uint32_t rank, id; ///< place in the list of merges, symbol that the pair becomes
  };

  std::array<uint32_t, 256> byteIds{}; ///< symbol of each byte
  bool byCharacter = false;            ///< words begin as characters, where these are symbols, else as bytes
  std::unordered_map<uint32_t, uint32_t> characterIds; ///< symbols of code points
  /// Words that are one symbol whatever the merges say (`ignore_merges`), by their bytes.
  std::unordered_map<std::string_view, uint32_t> wholeWords;

  void reserveMerges(size_t count);
  /// A pair that is there already gets the new merge.
  void addMerge(uint32_t left, uint32_t right, Merge merge);
  /// The merge of a pair of symbols, or null.
  const Merge *find(uint32_t left, uint32_t right) const {
    uint64_t key = keyOf(left, right);
    for (size_t at = slotOf(key);; at = (at + 1) & mask) {
      if (slots[at].key == key)
        return &slots[at].merge;
      if (slots[at].key == emptyKey)
        return nullptr;
    }
  }

private:
  static constexpr uint64_t emptyKey = ~uint64_t(0);
  struct Slot {
    uint64_t key = emptyKey;
    Merge merge{};
  };
  static uint64_t keyOf(uint32_t left, uint32_t right) { return uint64_t(left) << 32 | right; }
  size_t slotOf(uint64_t key) const { return size_t((key * 0x9E3779B97F4A7C15ull) >> 20) & mask; }

  std::vector<Slot> slots = std::vector<Slot>(2); ///< open addressing, at most half full
  size_t mask = 1;
};

/// Applies a model to words; keeps its memory between them. Used by one thread.
class WordMerger {
public:
  explicit WordMerger(const BytePairModel &model) : model(model) {}
  /// Appends the symbols of a word.
  void append(std::string_view word, std::vector<uint32_t> &ids);

private:
  struct Symbol {
    uint32_t id, previous, next;
    bool gone;
  };
  struct Candidate {
    uint32_t rank, position, id, left, right;
    bool operator<(const Candidate &other) const { // the heap's top is the largest
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };
  void addSymbol(uint32_t id);
  void beginWith(std::string_view word);
  void propose(uint32_t position);
  void merge(const Candidate &candidate);

  const BytePairModel &model;
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

} // namespace par::text
#endif
