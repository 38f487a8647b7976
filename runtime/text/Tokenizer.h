/// BPE tokenizers as Hugging Face's tokenizer.json describes them (docs/Running.md, "Data"): byte-level ones
/// of GPT-2, Llama 3, Qwen 2 and 3, OLMo 2, SmolLM 3 and their relatives, and those that SentencePiece learnt
/// of Llama 2, Mistral, Gemma, Phi 3 and theirs.
#ifndef PAR_TEXT_TOKENIZER_H
#define PAR_TEXT_TOKENIZER_H

#include "par/io/Status.h"
#include "text/AddedTokens.h"
#include "text/BytePairModel.h"
#include "text/Normalizer.h"
#include "text/PreTokenizer.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace par::text {

/// Immutable once it is open; any number of Encoders may use it.
class Tokenizer {
public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer &) = delete;
  Tokenizer &operator=(const Tokenizer &) = delete;

  /// Reads a tokenizer.json. What would give other ids than Hugging Face's tokenizers is refused by its key.
  io::Status open(const std::string &path);
  /// The same for the file's content; `path` is for messages.
  io::Status parse(const std::string &path, std::string_view content);

  /// One more than the largest id.
  uint32_t size() const { return uint32_t(tokens.size()); }
  /// The id of a token as the file spells it, or -1.
  int64_t find(const std::string &token) const;
  /// The bytes of an id below size(); empty for an id that is no token.
  std::string_view bytes(uint32_t id) const { return tokens[id]; }
  /// Appends the text of tokens; an error names the first id that is no token. Where `begins`, the space
  /// that encoding puts before a text is left out.
  io::Status decode(const uint32_t *ids, size_t count, std::string &text, bool begins = true) const;

  /// Whether tokens are characters, and bytes only for what is none of them; isByte: whether one is a byte.
  bool hasBytes() const { return model.byCharacter; }
  bool isByte(uint32_t id) const;

  /// Tokens that the post-processor's template puts before a text (a beginning-of-sequence token); encoding
  /// does not.
  const std::vector<uint32_t> &prefix() const { return before; }
  /// Whether ids begin with them, where there are any; of each id the bits of `mask` count.
  bool hasPrefix(const std::vector<uint32_t> &ids, uint32_t mask = UINT32_MAX) const;

  /// Whether it is an added token whose `rstrip` says that blanks behind it are its own.
  bool takesBlanksBehind(uint32_t id) const { return rstrips.count(id) > 0; }

  /// The first added token that stands in a text, or -1.
  int64_t findAdded(std::string_view text) const;
  /// Where the first one at or behind `from` stands; false where there is none.
  bool findAdded(std::string_view text, size_t from, size_t &begin, size_t &end) const;

private:
  friend class Encoder;
  friend class TokenizerReader;

  Normalizer normalizer;
  AddedTokens exactTokens;      ///< found before normalization
  AddedTokens normalizedTokens; ///< found after it
  PreTokenizer preTokenizer;
  BytePairModel model;
  std::vector<std::string> tokens; ///< id → bytes
  std::vector<bool> known;         ///< ids that are tokens
  std::unordered_map<std::string, uint32_t> ids;
  std::vector<uint32_t> before;
  std::set<uint32_t> rstrips;
  bool dropsFirstSpace = false; ///< of decoded text
};

} // namespace par::text
#endif
