/// Tokens that are found in text as they are, before words are: "<|endoftext|>".
#ifndef PAR_TEXT_ADDEDTOKENS_H
#define PAR_TEXT_ADDEDTOKENS_H

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace par::text {

/// What an added token asks of the text around it, as Hugging Face's tokenizers name it.
struct AddedToken {
  uint32_t id = 0;
  bool singleWord = false;             ///< no letter, mark, digit or underscore stands beside it
  bool lstrip = false, rstrip = false; ///< blanks before it and behind it are of the token
};

/// A trie of contents. Where several match, the leftmost counts, and of those the longest.
class AddedTokens {
public:
  /// A content that is there already gets the new token.
  void add(std::string_view content, const AddedToken &token);
  bool empty() const { return nodes == 1; }

  struct Match {
    size_t begin, end; ///< with the blanks of the token
    size_t next;       ///< where its content ends, from which the next one is searched
    uint32_t id;
    bool lstrip; ///< blanks that are of the token before it are none of its own
  };
  /// The first match at or after `from`; false when there is none.
  bool find(std::string_view text, size_t from, Match &match) const;

private:
  const AddedToken *matchAt(std::string_view text, size_t begin, size_t &end) const;

  std::array<bool, 256> first{};                   ///< bytes that a content begins with
  std::unordered_map<uint64_t, uint32_t> children; ///< node · 256 + byte → node; the root is 0
  std::unordered_map<uint32_t, AddedToken> tokens; ///< node → of the content that ends there
  uint32_t nodes = 1;
};

} // namespace par::text
#endif
