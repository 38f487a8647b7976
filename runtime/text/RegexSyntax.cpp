#include "text/RegexSyntax.h"

#include <cctype>
#include <cstring>

namespace par::text {

/// Unicode's White_Space. PCRE2's own \s has U+180E as well, and its \p{White_Space} is slow.
static const char whiteSpace[] =
    "\\t-\\r\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";

namespace {
class Translator {
public:
  Translator(std::string_view pattern, std::string &out) : in(pattern), out(out) {}

  io::Status run() {
    while (at < in.size() && problem.empty())
      item();
    if (problem.empty())
      return {};
    return io::Status::error("\"" + problem + "\" at character " + std::to_string(place) +
                             " of the regular expression is not supported");
  }

private:
  char peek(size_t ahead = 0) const { return at + ahead < in.size() ? in[at + ahead] : '\0'; }
  void copy(size_t count = 1) {
    out += in.substr(at, count);
    at += count;
  }
  void refuse(size_t length) {
    place = at;
    problem = in.substr(at, length);
    if (problem.empty())
      problem = "the end";
  }

  void item() {
    switch (peek()) {
    case '\\':
      return escape(/*inClass=*/false);
    case '[':
      return characterClass();
    case '(':
      return group();
    case '{':
      return repetition();
    case '*':
    case '+':
    case '?':
      copy(); // a ? or + behind it (lazy, possessive) means the same in both
      return;
    case '^':
    case '$':
      return refuse(1); // of lines in one library, of the subject in the other
    case ']':
    case '}':
      out += '\\';
      return copy();
    default:
      return copy();
    }
  }

  void group() {
    if (peek(1) != '?') {
      out += "(?:";
      ++at;
      return;
    }
    for (const char *opening : {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"})
      if (in.substr(at, std::strlen(opening)) == opening)
        return copy(std::strlen(opening));
    refuse(3);
  }

  /// {n}, {n,}, {n,m}. What follows must not be ? or +: they mean other things in the two libraries.
  void repetition() {
    size_t end = at + 1, digits = 0;
    while (end < in.size() &&
           (std::isdigit(static_cast<unsigned char>(in[end])) || (digits && in[end] == ','))) {
      digits += in[end] != ',';
      ++end;
    }
    if (digits == 0 || end >= in.size() || in[end] != '}')
      return refuse(1);
    if (end + 1 < in.size() && (in[end + 1] == '?' || in[end + 1] == '+'))
      return refuse(end + 2 - at);
    copy(end + 1 - at);
  }

  void characterClass() {
    copy();
    if (peek() == '^')
      copy();
    if (peek() == ']')
      return refuse(1);
    while (peek() != ']' && problem.empty()) {
      if (peek() == '\\')
        escape(/*inClass=*/true);
      else if (at >= in.size() || peek() == '[' || (peek() == '&' && peek(1) == '&'))
        return refuse(2); // unterminated, nested or an intersection
      else
        copy();
    }
    copy();
  }

  void escape(bool inClass) {
    char c = peek(1);
    if (std::ispunct(static_cast<unsigned char>(c)) || c == 'r' || c == 'n' || c == 't' || c == 'f')
      return copy(2);
    switch (c) {
    case 's':
      return replace(2, inClass ? whiteSpace : std::string("[") + whiteSpace + "]");
    case 'S':
      return inClass ? replace(2, "\\P{White_Space}") : replace(2, std::string("[^") + whiteSpace + "]");
    case 'd':
      return replace(2, "\\p{Nd}");
    case 'D':
      return replace(2, "\\P{Nd}");
    case 'v':
      return replace(2, "\\x0b");
    case 'u':
      return codePoint(2, at + 6);
    case 'x':
      return peek(2) == '{' ? codePoint(3, in.find('}', at)) : refuse(2);
    case 'p':
    case 'P':
      return property();
    default:
      return refuse(2);
    }
  }

  void replace(size_t length, const std::string &text) {
    out += text;
    at += length;
  }

  /// Hexadecimal digits from `at + skip` to `end`, then a closing brace if there was an opening one.
  void codePoint(size_t skip, size_t end) {
    if (end > in.size() || end <= at + skip || end - at - skip > 6)
      return refuse(2);
    std::string digits(in.substr(at + skip, end - at - skip));
    if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      return refuse(end - at);
    replace(end - at + (skip == 3), "\\x{" + digits + "}");
  }

  /// General categories are the same in both; a script is PCRE2's sc:, its plain name would be the script
  /// extensions.
  void property() {
    size_t end = in.find('}', at);
    if (peek(2) != '{' || end == std::string::npos || end - at > 40)
      return refuse(3);
    std::string name(in.substr(at + 3, end - at - 3)), kind(in.substr(at, 2));
    if (!name.empty() && name[0] == '^') {
      kind = kind == "\\p" ? "\\P" : "\\p";
      name.erase(0, 1);
    }
    for (char c : name)
      if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_')
        return refuse(end + 1 - at);
    if (name.empty())
      return refuse(end + 1 - at);
    replace(end + 1 - at, kind + (name.size() <= 2 ? "{" : "{sc:") + name + "}");
  }

  std::string_view in;
  std::string &out;
  size_t at = 0, place = 0;
  std::string problem;
};
} // namespace

io::Status translateRegex(std::string_view pattern, std::string &result) {
  result.clear();
  return Translator(pattern, result).run();
}

} // namespace par::text
