#include "text/Regex.h"

#include "par/Limits.h"
#include "text/RegexSyntax.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <utility>

namespace par::text {

static std::string messageOf(int code) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char *>(text);
}

io::Status Regex::compile(std::string_view pattern) {
  std::string translated;
  PAR_TRY(translateRegex(pattern, translated));
  int error;
  size_t offset;
  std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context *)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), limits::patternLevels);
  code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                           PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, context.get()),
             pcre2_code_free);
  if (!code)
    return io::Status::error("the regular expression is wrong: " + messageOf(error));
  uint32_t matchesEmpty = 0;
  pcre2_pattern_info(code.get(), PCRE2_INFO_MATCHEMPTY, &matchesEmpty);
  if (matchesEmpty)
    return io::Status::error(
        "the regular expression can match without taking a character, which is not supported");
  native = pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) == 0;
  return {};
}

Matcher::Matcher(const Regex &regex)
    : regex(&regex), data(pcre2_match_data_create(1, nullptr)), context(pcre2_match_context_create(nullptr)),
      stack(regex.native ? pcre2_jit_stack_create(32 << 10, 16 << 20, nullptr) : nullptr) {
  if (stack)
    pcre2_jit_stack_assign(context, nullptr, stack);
}

Matcher::Matcher(Matcher &&other) noexcept
    : regex(other.regex), data(std::exchange(other.data, nullptr)),
      context(std::exchange(other.context, nullptr)), stack(std::exchange(other.stack, nullptr)) {}

Matcher::~Matcher() {
  pcre2_match_data_free(data);
  pcre2_match_context_free(context);
  pcre2_jit_stack_free(stack);
}

io::Status Matcher::find(std::string_view text, size_t from, size_t &begin, size_t &end) {
  auto *subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  // The text is known to be well-formed; pcre2_jit_match assumes it anyway.
  int result =
      regex->native
          ? pcre2_jit_match(regex->code.get(), subject, text.size(), from, 0, data, context)
          : pcre2_match(regex->code.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK, data, context);
  begin = end = text.size();
  if (result == PCRE2_ERROR_NOMATCH)
    return {};
  if (result < 0)
    return io::Status::error("a regular expression of the tokenizer failed on the text: " +
                             messageOf(result));
  const size_t *range = pcre2_get_ovector_pointer(data);
  begin = range[0], end = range[1];
  return {};
}

} // namespace par::text
