/// The text of tokens that come one by one: always UTF-8, whatever a model writes.
#ifndef PAR_TEXT_TEXTSTREAM_H
#define PAR_TEXT_TEXTSTREAM_H

#include "text/Tokenizer.h"

namespace par::text {

/// Characters appear when their last byte has come. Bytes that belong to none become U+FFFD as often as
/// Hugging Face's decoders write it: once for what is cut off of a character, but for each of neighbouring
/// tokens of bytes ("<0x0A>") where these are no text together.
class TextStream {
public:
  /// `begins` as for Tokenizer::decode.
  TextStream(const Tokenizer &tokenizer, bool begins) : tokenizer(&tokenizer), begins(begins) {}

  /// Appends what the next token makes certain. An id that is no token adds nothing: models pad their
  /// vocabularies.
  void add(uint32_t id, std::string &text);
  /// Appends what is left where no more tokens follow.
  void finish(std::string &text);

private:
  void addBytes(std::string &text);
  void addByteToken(std::string &text);

  const Tokenizer *tokenizer;
  bool begins;           ///< no token has come
  std::string pending;   ///< bytes of a character that is not whole yet
  bool isBroken = false; ///< the neighbouring tokens of bytes are no text together
};

} // namespace par::text
#endif
