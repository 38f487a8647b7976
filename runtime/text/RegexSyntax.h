/// From the regular expressions of tokenizer.json to PCRE2's.
#ifndef PAR_TEXT_REGEXSYNTAX_H
#define PAR_TEXT_REGEXSYNTAX_H

#include "par/io/Status.h"

#include <string>
#include <string_view>

namespace par::text {

/// Hugging Face's tokenizers match with Oniguruma, whose syntax and classes differ from PCRE2's in places.
/// This rewrites what differs (\s, \d, \h of code points, scripts) and refuses what is not known to mean the
/// same in both. The error names the construct and its place in the pattern.
io::Status translateRegex(std::string_view pattern, std::string &result);

} // namespace par::text
#endif
