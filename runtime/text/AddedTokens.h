/// Tokens that are found in text as they are, before words are: "<|endoftext|>".
#ifndef PAR_TEXT_ADDEDTOKENS_H
#define PAR_TEXT_ADDEDTOKENS_H

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace par::text {

/// A trie of contents. Where several match, the leftmost counts, and of those the longest.
class AddedTokens {
public:
  /// A content that is there already gets the new id.
  void add(std::string_view content, uint32_t id);
  bool empty() const { return nodes == 1; }

  struct Match {
    size_t begin, end;
    uint32_t id;
  };
  /// The first match at or after `from`; false when there is none.
  bool find(std::string_view text, size_t from, Match &match) const;

private:
  bool matchAt(std::string_view text, size_t begin, Match &match) const;

  std::array<bool, 256> first{};                   ///< bytes that a content begins with
  std::unordered_map<uint64_t, uint32_t> children; ///< node · 256 + byte → node; the root is 0
  std::unordered_map<uint32_t, uint32_t> ids;      ///< node → id of the content that ends there
  uint32_t nodes = 1;
};

} // namespace par::text
#endif
