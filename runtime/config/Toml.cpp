#include "par/config/Toml.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <sys/stat.h>

namespace par::config {

/// Far above any file of flags.
static constexpr size_t mostBytes = 1 << 20;

std::string oneLine(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      c = '?';
  return text;
}

std::string quote(const Value &value) {
  std::string text;
  if (value.kind == Kind::list) {
    for (const Value &item : value.items)
      text += (text.empty() ? "[" : ", ") + quote(item);
    text += text.empty() ? "[]" : "]";
  } else {
    text = value.kind == Kind::text ? '"' + value.text + '"' : value.text;
  }
  text = oneLine(std::move(text));
  constexpr size_t most = 80;
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isBare(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

static void appendUtf8(unsigned code, std::string &text) {
  if (code < 0x80) {
    text += char(code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
  text += char(heads[more] | (code >> (6 * more)));
  while (more-- > 0)
    text += char(0x80 | ((code >> (6 * more)) & 0x3f));
}

namespace {
class Parser {
public:
  Parser(const std::string &text, const std::string &path, std::vector<Entry> &entries)
      : text(text), path(path), entries(entries) {}

  io::Status run() {
    if (text.compare(0, 3, "\xEF\xBB\xBF") == 0)
      at = 3;
    while (skipBlank(), at < text.size())
      PAR_TRY(text[at] == '[' ? heading() : setting());
    return {};
  }

private:
  char peek() const { return at < text.size() ? text[at] : '\0'; }
  bool isEnd() const { return at == text.size() || text[at] == '\n' || text.compare(at, 2, "\r\n") == 0; }
  void skipSpaces() {
    while (peek() == ' ' || peek() == '\t')
      ++at;
  }
  void skipComment() {
    if (peek() == '#')
      while (!isEnd())
        ++at;
  }
  /// Spaces, comments and ends of lines.
  void skipBlank() {
    for (;;) {
      skipSpaces();
      skipComment();
      if (at == text.size() || !isEnd())
        return;
      at += text[at] == '\r' ? 2 : 1;
      ++line;
    }
  }

  io::Status fail(const std::string &problem) const {
    return io::Status::error(oneLine(path) + ":" + std::to_string(line) + ": " + problem);
  }

  io::Status endOfLine(const std::string &after) {
    skipSpaces();
    skipComment();
    return isEnd()
               ? io::Status()
               : fail("unexpected text after " + after + "; end the line there, or begin a comment with #");
  }

  io::Status heading() {
    ++at;
    if (peek() == '[')
      return fail("[[...]] is not built; write one table, as [par-run]");
    skipSpaces();
    PAR_TRY(key(table));
    skipSpaces();
    if (peek() != ']')
      return fail("the heading of a table is not closed; write [" + table + "]");
    ++at;
    if (!tables.insert(table).second)
      return fail("[" + table + "] is there already; write what is below it there");
    return endOfLine("the heading");
  }

  io::Status setting() {
    Entry entry;
    entry.table = table;
    entry.line = line;
    PAR_TRY(key(entry.key));
    skipSpaces();
    if (peek() != '=')
      return fail("'" + entry.key + "' is not followed by = and a value; write " + entry.key + " = VALUE");
    ++at;
    skipSpaces();
    PAR_TRY(value(entry.key, entry.value));
    PAR_TRY(endOfLine("the value of '" + entry.key + "'"));
    if (!keys.insert({table, entry.key}).second)
      return fail("'" + entry.key + "' is set twice; set it once");
    entries.push_back(std::move(entry));
    return {};
  }

  io::Status key(std::string &name) {
    name.clear();
    if (peek() == '"' || peek() == '\'') {
      PAR_TRY(string("a key", name));
    } else {
      while (isBare(peek()))
        name += text[at++];
    }
    // It is in messages.
    for (char c : name)
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
        return fail("a key holds a control character; keys are names of flags");
    if (peek() == '.')
      return fail("'" + name + ".' is a dotted key, which is not built; write [" + name +
                  "] above it and the key alone");
    return name.empty() ? fail("expected a key: the name of a flag without its dashes, as steps = 100")
                        : io::Status();
  }

  io::Status value(const std::string &name, Value &result) {
    if (peek() == '[')
      return list(name, result);
    return scalar(name, result);
  }

  io::Status list(const std::string &name, Value &result) {
    result.kind = Kind::list;
    for (++at;;) {
      skipBlank();
      if (peek() == ']')
        return ++at, io::Status();
      if (at == text.size())
        return fail("the list of '" + name + "' is not closed; end it with ]");
      if (peek() == '[')
        return fail("'" + name + "' is a list of lists, which no flag takes; write one list");
      PAR_TRY(scalar(name, result.items.emplace_back()));
      skipBlank();
      if (peek() == ',')
        ++at;
      else if (at < text.size() && peek() != ']')
        return fail("the list of '" + name + "' has no comma or ] after a value; add it");
    }
  }

  io::Status scalar(const std::string &name, Value &result) {
    if (peek() == '"' || peek() == '\'')
      return string("'" + name + "'", result.text);
    if (peek() == '{')
      return fail("'" + name + "' is a table, which no flag takes; write a text, as on the command line");
    return word(name, result);
  }

  /// What is written without quotes.
  io::Status word(const std::string &name, Value &result) {
    std::string written;
    while (isBare(peek()) || peek() == '.' || peek() == '+' || peek() == ':')
      written += text[at++];
    if (written == "true" || written == "false") {
      result = {Kind::boolean, written, {}};
      return {};
    }
    if (readNumber(written, result))
      return {};
    if (written.empty())
      return fail("'" + name + "' has no value; write " + name + " = VALUE");
    return fail("'" + name + "' is " + quote({Kind::integer, written, {}}) +
                ", which is no number, true or false; write a text in quotes, a number in decimal");
  }

  /// TOML's decimal numbers: no leading zeros, `_` between digits only, digits on both sides of the point.
  static bool readNumber(const std::string &written, Value &result) {
    size_t i = 0;
    result = {Kind::integer, "", {}};
    auto digits = [&](bool isWhole) {
      size_t begin = result.text.size();
      while (i < written.size() &&
             (isDigit(written[i]) || (written[i] == '_' && i && isDigit(written[i - 1]) &&
                                      i + 1 < written.size() && isDigit(written[i + 1])))) {
        if (written[i] != '_')
          result.text += written[i];
        ++i;
      }
      size_t count = result.text.size() - begin;
      return count > 0 && !(isWhole && count > 1 && result.text[begin] == '0');
    };
    auto sign = [&] {
      if (i < written.size() && (written[i] == '-' || written[i] == '+') && written[i++] == '-')
        result.text += '-';
    };
    sign();
    if (!digits(/*isWhole=*/true))
      return false;
    if (i < written.size() && written[i] == '.') {
      result.kind = Kind::number;
      result.text += written[i++];
      if (!digits(false))
        return false;
    }
    if (i < written.size() && (written[i] == 'e' || written[i] == 'E')) {
      result.kind = Kind::number;
      result.text += written[i++];
      sign();
      if (!digits(false))
        return false;
    }
    return i == written.size();
  }

  io::Status string(const std::string &what, std::string &result) {
    char mark = text[at];
    if (text.compare(at, 3, std::string(3, mark)) == 0)
      return fail("a text of several lines is not built; write " + what + " in one line");
    for (++at; peek() != mark || at == text.size();) {
      if (isEnd())
        return fail("the text of " + what + " is not closed; end it with " + mark);
      if (peek() == '\0')
        return fail("the text of " + what + " holds a NUL byte; take it out");
      if (mark == '"' && peek() == '\\')
        PAR_TRY(escape(what, result));
      else
        result += text[at++];
    }
    ++at;
    return {};
  }

  io::Status escape(const std::string &what, std::string &result) {
    static const char names[] = "btnfr\"\\", meanings[] = "\b\t\n\f\r\"\\";
    ++at;
    if (const char *found = at < text.size() && text[at] ? std::strchr(names, text[at]) : nullptr) {
      result += meanings[found - names];
      ++at;
      return {};
    }
    unsigned count = peek() == 'u' ? 4 : peek() == 'U' ? 8 : 0, code = 0;
    const std::string digits = count ? text.substr(at + 1, count) : "";
    bool isCode = count && digits.size() == count &&
                  digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos &&
                  std::sscanf(digits.c_str(), "%x", &code) == 1 && code > 0 && code < 0x110000 &&
                  (code < 0xd800 || code > 0xdfff);
    if (!isCode)
      return fail("the text of " + what +
                  " has a \\ that begins no escape of TOML; write \\\\, or quote with '");
    at += 1 + count;
    appendUtf8(code, result);
    return {};
  }

  const std::string &text, &path;
  std::vector<Entry> &entries;
  size_t at = 0;
  int line = 1;
  std::string table;
  std::set<std::string> tables;
  std::set<std::pair<std::string, std::string>> keys;
};
} // namespace

io::Status parseToml(const std::string &text, const std::string &path, std::vector<Entry> &entries) {
  entries.clear();
  return Parser(text, path, entries).run();
}

io::Status readToml(const std::string &path, std::vector<Entry> &entries) {
  auto fail = [&](const std::string &problem) {
    return io::Status::error(oneLine(path) + ": cannot be read: " + problem +
                             "; give a file of flags to --config");
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  struct stat status;
  if (!file || fstat(fileno(file.get()), &status))
    return fail(std::strerror(errno));
  // A pipe is welcome (`<(...)`), a folder or an endless device is not.
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
    return fail("it is no regular file");
  std::string text(mostBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()))
    return fail(std::strerror(errno));
  if (text.size() > mostBytes)
    return fail("it has more than " + std::to_string(mostBytes) + " bytes");
  return parseToml(text, path, entries);
}

} // namespace par::config
