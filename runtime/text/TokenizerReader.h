/// tokenizer.json to a Tokenizer.
#ifndef PAR_TEXT_TOKENIZERREADER_H
#define PAR_TEXT_TOKENIZERREADER_H

#include "io/JsonNode.h"
#include "text/Tokenizer.h"

namespace par::text {

using io::JsonError;
using io::JsonNode;

/// Throws JsonError: a value that is wrong or that would make other ids than this library makes.
class TokenizerReader {
public:
  explicit TokenizerReader(Tokenizer &tokenizer) : tokenizer(tokenizer) {}
  void read(const JsonNode &root);

private:
  void normalizer(const JsonNode &node);
  void preTokenizer(const JsonNode &node);
  void split(const JsonNode &node);
  void addRegex(const JsonNode &node, const std::string &pattern, bool dropGaps);
  void byteLevel(const JsonNode &node);
  void decoder(const JsonNode &node) const;
  void model(const JsonNode &node);
  void vocabulary(const JsonNode &node);
  void bytesOfVocabulary(const JsonNode &node);
  void merges(const JsonNode &node);
  void addedToken(const JsonNode &node);
  void postProcessor(const JsonNode &node);
  void addToken(const JsonNode &node, const std::string &content, uint32_t id, std::string bytes);
  uint32_t idOf(const JsonNode &node, const std::string &token) const;

  Tokenizer &tokenizer;
  std::vector<uint32_t> wholeWords; ///< ids that text can become as a whole
  bool ignoreMerges = false;
  uint32_t nextAdded = 0; ///< id of the next added token that the vocabulary does not have
};

} // namespace par::text
#endif
