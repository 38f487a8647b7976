#include "text/WordCache.h"

#include <cstring>

namespace par::text {

/// Eight bytes at a time by a multiplication whose halves are folded together.
static uint32_t hashOf(std::string_view word) {
  uint64_t hash = word.size() * 0x9E3779B97F4A7C15ull;
  const char *at = word.data();
  for (size_t left = word.size(); left;) {
    uint64_t eight = 0;
    size_t count = left < 8 ? left : 8;
    std::memcpy(&eight, at, count);
    auto product = static_cast<unsigned __int128>(hash ^ eight) * 0xD6E8FEB86659FD93ull;
    hash = uint64_t(product) ^ uint64_t(product >> 64);
    at += count, left -= count;
  }
  return uint32_t(hash ^ hash >> 32);
}

WordCache::WordCache() : entries(slots) {}

/// The word's entry, or the free one where it belongs.
size_t WordCache::find(std::string_view word, uint32_t hash) const {
  size_t at = hash & (slots - 1);
  while (entries[at].length != 0) {
    const Entry &entry = entries[at];
    if (entry.hash == hash && entry.length == word.size() &&
        std::memcmp(words.data() + entry.word, word.data(), word.size()) == 0)
      break;
    at = (at + 1) & (slots - 1);
  }
  return at;
}

bool WordCache::append(std::string_view word, std::vector<uint32_t> &ids) const {
  const Entry &entry = entries[find(word, hashOf(word))];
  if (entry.length == 0)
    return false;
  ids.insert(ids.end(), symbols.begin() + entry.ids, symbols.begin() + entry.ids + entry.count);
  return true;
}

void WordCache::insert(std::string_view word, const uint32_t *ids, size_t count) {
  if (used >= slots / 2)
    clear();
  uint32_t hash = hashOf(word);
  Entry &entry = entries[find(word, hash)];
  entry = {hash, uint32_t(words.size()), uint32_t(symbols.size()), uint8_t(word.size()), uint8_t(count)};
  words.append(word);
  symbols.insert(symbols.end(), ids, ids + count);
  ++used;
}

void WordCache::clear() {
  entries.assign(slots, Entry());
  words.clear(), symbols.clear();
  used = 0;
}

} // namespace par::text
