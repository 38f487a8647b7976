/// What is continued, and how the continuation is shown.
#ifndef PAR_GENERATE_PROMPT_H
#define PAR_GENERATE_PROMPT_H

#include "core/Manifest.h"
#include "generate/Generate.h"
#include "text/Tokenizer.h"

#include <memory>

namespace par::generating {

struct Prompt {
  std::vector<int32_t> tokens;
  std::unique_ptr<text::Tokenizer> tokenizer; ///< null: tokens are shown as numbers
  std::vector<int64_t> ends;                  ///< tokens before which the text ends

  /// Throws rt::Error: no tokenizer for a text, no token at all, more than the model's sequence, one that the
  /// model does not know.
  void open(const GenerateOptions &options, const rt::Manifest &manifest);

  // On standard output: the text with its continuation as it grows, or the new tokens' numbers in one line.
  void begin();
  void print(int32_t token);
  void end() const;

private:
  void encode(const GenerateOptions &options);
  void findEnds(const GenerateOptions &options);
  std::string text;
  bool first = true;
};

} // namespace par::generating
#endif
