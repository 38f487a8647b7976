/// A regular expression of tokenizer.json, compiled.
#ifndef PAR_TEXT_REGEX_H
#define PAR_TEXT_REGEX_H

#include "par/io/Status.h"

#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace par::text {

/// Immutable and shared between threads; a thread matches with its own Matcher.
class Regex {
public:
  /// Takes the syntax of Hugging Face's tokenizers. Refuses a pattern that can match no characters at all.
  io::Status compile(std::string_view pattern);

private:
  friend class Matcher;
  std::shared_ptr<pcre2_real_code_8> code;
  bool native = false; ///< PCRE2 made machine code of it
};

class Matcher {
public:
  explicit Matcher(const Regex &regex);
  ~Matcher();
  Matcher(Matcher &&other) noexcept;
  Matcher(const Matcher &) = delete;
  Matcher &operator=(const Matcher &) = delete;

  /// The next match in well-formed `text` at or after `from`; begin = end = text.size() when there is none.
  io::Status find(std::string_view text, size_t from, size_t &begin, size_t &end);

private:
  const Regex *regex;
  pcre2_real_match_data_8 *data;
  pcre2_real_match_context_8 *context;
  pcre2_real_jit_stack_8 *stack;
};

} // namespace par::text
#endif
