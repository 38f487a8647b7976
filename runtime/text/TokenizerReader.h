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
  void byteLevelStep(const JsonNode &node);
  void split(const JsonNode &node);
  void addRegex(const JsonNode &node, const std::string &pattern, bool dropGaps);
  void byteLevel(const JsonNode &node);
  void markedPreTokenizer(const JsonNode &node, const std::string &type);
  void metaspace(const JsonNode &node);
  void splitAtSpaces(const JsonNode &node) const;
  void replace(const JsonNode &node);
  void decoder(const JsonNode &node) const;
  void model(const JsonNode &node);
  void vocabulary(const JsonNode &node);
  void bytesOfVocabulary(const JsonNode &node);
  void markedVocabulary(const JsonNode &node);
  void markedWords();
  void markedDecoder(const JsonNode &node);
  /// The bytes of a token as text shows them.
  std::string bytesOf(const std::string &token) const;
  void merges(const JsonNode &node);
  void addedToken(const JsonNode &node);
  void postProcessor(const JsonNode &node);
  void addToken(const JsonNode &node, const std::string &content, uint32_t id, std::string bytes);
  static uint32_t readId(const JsonNode &vocabulary, const std::string &token, const nlohmann::json &id);
  uint32_t idOf(const JsonNode &node, const std::string &token) const;

  Tokenizer &tokenizer;
  std::vector<uint32_t> wholeWords; ///< ids that text can become as a whole
  bool ignoreMerges = false;
  /// The vocabulary has characters, with spaces as marks, and bytes for what is none of its characters.
  bool isMarked = false;
  bool splitsAtMarks = false, crossesMarks = false; ///< the latter: merges join what a mark divides
  uint32_t nextAdded = 0; ///< id of the next added token that the vocabulary does not have
};

} // namespace par::text
#endif
