#include "chat/TemplateLexer.h"

#include <cctype>
#include <cstring>
#include <map>

namespace par::chat {

namespace {
class Cutter {
public:
  explicit Cutter(const std::string &text) : source(withPlainNewlines(text)) {}

  std::vector<Word> run() {
    while (at < source.size())
      piece();
    add(Word::end, "");
    return std::move(words);
  }

private:
  static std::string withPlainNewlines(const std::string &text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] != '\r')
        plain += text[i];
      else if (i + 1 == text.size() || text[i + 1] != '\n')
        plain += '\n';
    if (!plain.empty() && plain.back() == '\n')
      plain.pop_back();
    return plain;
  }

  static bool isBlank(char letter) { return letter != 0 && std::strchr(" \t\n\v\f\r", letter) != nullptr; }
  bool isAt(const char *mark) const { return source.compare(at, std::strlen(mark), mark) == 0; }

  void add(Word::Kind kind, std::string text) { words.push_back({kind, std::move(text), line}); }

  void skip(size_t count) {
    for (; count > 0 && at < source.size(); --count)
      line += source[at++] == '\n';
  }

  /// The text up to the next tag, and the tag.
  void piece() {
    size_t open = at;
    while (open < source.size() && !(source[open] == '{' && open + 1 < source.size() &&
                                     std::strchr("{%#", source[open + 1]) && source[open + 1]))
      ++open;
    std::string text = source.substr(at, open - at);
    char kind = open < source.size() ? source[open + 1] : 0,
         sign = open + 2 < source.size() ? source[open + 2] : 0;
    strip(text, kind, sign);
    if (!text.empty())
      add(Word::plain, text);
    skip(open - at);
    if (!kind)
      return;
    skip(sign == '-' || (sign == '+' && kind != '{') ? 3 : 2);
    if (kind == '#')
      return comment();
    add(kind == '{' ? Word::openPrint : Word::openBlock, "");
    tag(kind == '{' ? "}}" : "%}");
  }

  /// Blanks before a tag: all of them before a minus, and the ones of its own line before a block.
  void strip(std::string &text, char kind, char sign) const {
    if (sign == '-' && kind) {
      while (!text.empty() && isBlank(text.back()))
        text.pop_back();
    } else if ((kind == '%' || kind == '#') && sign != '+') {
      size_t begin = text.rfind('\n') + 1; // 0 where there is none
      bool beginsLine = begin > 0 || startsLine;
      if (beginsLine && text.find_first_not_of(" \t", begin) == std::string::npos)
        text.resize(begin);
    }
  }

  /// Blanks behind a tag, once its end is read: all behind a minus, one newline behind a block.
  void behind(bool minus, bool isBlock) {
    size_t before = at;
    if (minus)
      while (at < source.size() && isBlank(source[at]))
        skip(1);
    else if (isBlock && at < source.size() && source[at] == '\n')
      skip(1);
    startsLine = at > before && source[at - 1] == '\n';
  }

  void comment() {
    size_t close = source.find("#}", at);
    if (close == std::string::npos)
      throw TemplateError(line, "a comment is not closed by #}");
    bool minus = close > at && source[close - 1] == '-';
    bool plus = close > at && source[close - 1] == '+';
    skip(close + 2 - at);
    behind(minus, !plus);
  }

  void tag(const std::string &close) {
    while (true) {
      while (at < source.size() && isBlank(source[at]))
        skip(1);
      if (at == source.size())
        throw TemplateError(line, "a tag is not closed by " + close);
      bool minus = isAt(("-" + close).c_str()), plus = close == "%}" && isAt(("+" + close).c_str());
      if (braces == 0 && (minus || plus || isAt(close.c_str()))) {
        add(Word::close, close);
        skip(close.size() + (minus || plus));
        return behind(minus, close == "%}" && !plus);
      }
      word();
    }
  }

  void word() {
    char first = source[at];
    if (first == '\'' || first == '"')
      return quoted(first);
    size_t end = at;
    auto isLetter = [&](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    while (end < source.size() && isLetter(source[end]))
      ++end;
    if (end > at) {
      bool isNumber = isdigit(static_cast<unsigned char>(first));
      std::string text = source.substr(at, end - at);
      bool hasFraction = isNumber && end + 1 < source.size() && source[end] == '.' && at > 0 &&
                         source[at - 1] != '.' && isdigit(static_cast<unsigned char>(source[end + 1]));
      if (isNumber &&
          (text.find_first_not_of("0123456789") != std::string::npos || text.size() > 15 || hasFraction))
        throw TemplateError(line, "of numbers only whole ones are read");
      add(isNumber ? Word::integer : Word::name, text);
      return skip(end - at);
    }
    for (const char *sign : {"==", "!=", "<=", ">=", "//", "**"})
      if (isAt(sign)) {
        add(Word::sign, sign);
        return skip(2);
      }
    if (!std::strchr("+-*/%~|.,:()[]{}<>=", first))
      throw TemplateError(line, std::string("'") + (first > ' ' && first < 0x7f ? first : '?') +
                                    "' has no meaning in a tag");
    braces += (first == '{') - (first == '}');
    add(Word::sign, std::string(1, first));
    skip(1);
  }

  void quoted(char mark) {
    static const std::map<char, char> escapes = {{'n', '\n'},  {'t', '\t'},  {'r', '\r'},
                                                 {'\\', '\\'}, {'\'', '\''}, {'"', '"'}};
    int begin = line;
    std::string text;
    for (skip(1); at < source.size() && source[at] != mark; skip(1)) {
      if (source[at] != '\\') {
        text += source[at];
        continue;
      }
      skip(1);
      auto escape = at < source.size() ? escapes.find(source[at]) : escapes.end();
      if (escape == escapes.end())
        throw TemplateError(line, "of escapes in texts only \\n, \\t, \\r, \\\\, \\' and \\\" are read");
      text += escape->second;
    }
    if (at == source.size())
      throw TemplateError(begin, "a text is not closed by its quote");
    words.push_back({Word::string, text, begin});
    skip(1);
  }

  std::string source;
  std::vector<Word> words;
  size_t at = 0;
  int line = 1, braces = 0;
  bool startsLine = true; ///< what is at `at` is the first of its line
};
} // namespace

std::vector<Word> cutTemplate(const std::string &source) { return Cutter(source).run(); }

} // namespace par::chat
