#ifndef PAR_GENERATE_CONTINUATION_H
#define PAR_GENERATE_CONTINUATION_H

#include "core/Manifest.h"
#include "generate/Generate.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace par::generating {

/// What a model goes on with, one text after the other, and what becomes of it. Rank 0 alone asks it.
class Continuation {
public:
  virtual ~Continuation() = default;
  /// The tokens of the next text, at least one and no more than the model's sequence; false: none is left.
  /// Throws rt::Error.
  virtual bool begin(std::vector<int32_t> &tokens) = 0;
  /// Shows a new token of the text. False: the text ends before it.
  virtual bool add(int32_t token) = 0;
  /// The text has ended, or has all the tokens that it may have. Throws rt::Error.
  virtual void end() = 0;
  /// Whether a text that outgrows the sequence goes on without its beginning; else it ends there.
  virtual bool slides() const = 0;
};

/// Each throws rt::Error for everything that is wrong with what is given, as far as it is known before ranks
/// start: a text without a tokenizer, tokens that the model does not have, more of them than its sequence.
std::unique_ptr<Continuation> openPrompt(const GenerateOptions &options, const rt::Manifest &manifest);
std::unique_ptr<Continuation> openChat(const GenerateOptions &options, const rt::Manifest &manifest);

/// The tokenizer of texts: a file or a folder; that of --tokenizer, else of the weights' folder, else of the
/// package. `what`: which text has none, for the error.
std::string findTokenizer(const GenerateOptions &options, const std::string &what);
/// The end tokens that the weights' folder names, else the package.
std::vector<int64_t> findEnds(const GenerateOptions &options, const rt::Manifest &manifest);
/// Fails where the model has no such token.
void checkTokens(const std::string &what, const std::vector<int32_t> &tokens, const rt::Manifest &manifest);
/// The line behind a text on standard output. Throws where that cannot be written.
void endLine();

} // namespace par::generating
#endif
