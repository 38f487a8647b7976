/// Text to tokens, by one thread.
#ifndef PAR_TEXT_ENCODER_H
#define PAR_TEXT_ENCODER_H

#include "text/Tokenizer.h"
#include "text/WordCache.h"

#include <functional>

namespace par::text {

class Encoder {
public:
  explicit Encoder(const Tokenizer &tokenizer);

  /// Takes the next tokens; `done` bytes of the text are behind them. A failure ends the encoding.
  using Sink = std::function<io::Status(const std::vector<uint32_t> &ids, size_t done)>;

  /// Hands a document's tokens to `sink`, in parts of some ten thousand, so the text may be a mapping of any
  /// size. Added tokens in the text become their ids; none is added. Fails on malformed UTF-8, with the
  /// offset.
  io::Status encode(std::string_view text, const Sink &sink);

  /// Appends a text's tokens.
  io::Status encode(std::string_view text, std::vector<uint32_t> &ids);

  /// Whether added tokens in the text are plain characters instead.
  void ignoreAddedTokens(bool ignore) { plain = ignore; }

private:
  struct Part;
  template <typename Between>
  io::Status splitAt(const AddedTokens &added, std::string_view text, Part &part, Between between);
  io::Status normalized(std::string_view text, bool begins, Part &part);
  io::Status words(std::string_view text, bool begins, Part &part);
  io::Status word(std::string_view word, Part &part);
  static io::Status flush(Part &part);

  const Tokenizer &tokenizer;
  WordSplitter splitter;
  WordMerger merger;
  WordCache cache;
  bool plain = false;
};

} // namespace par::text
#endif
