#include "par/config/Message.h"

#include "par/Limits.h"
#include "par/config/Sources.h"

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace par::config {

namespace {
/// A character of UTF-8 text.
struct Character {
  size_t bytes;
  bool isValid;
  uint32_t code;
};
} // namespace

static Character decode(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  unsigned char first = byte(0);
  size_t bytes = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : 4;
  Character wrong{1, false, first};
  if (first >= 0x80 && (first < 0xc2 || first > 0xf4))
    return wrong;
  if (at + bytes > text.size())
    return wrong;
  uint32_t code = bytes == 1 ? first : first & (0xff >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return wrong;
    code = code << 6 | (byte(i) & 0x3f);
  }
  bool isLong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  bool isSurrogate = code >= 0xd800 && code < 0xe000;
  return isLong || isSurrogate || code > 0x10ffff ? wrong : Character{bytes, true, code};
}

/// What acts instead of being seen.
static bool isHidden(uint32_t code) {
  bool isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
  bool turnsText = (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                   (code >= 0x2060 && code <= 0x206f) || code == 0x61c || code == 0xfeff;
  return isControl || turnsText || (code >= 0xe0000 && code <= 0xe007f);
}

static std::string escape(uint32_t code, bool isByte) {
  if (code == '\n' || code == '\t' || code == '\r')
    return code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
  char text[16];
  std::snprintf(text, sizeof(text),
                isByte || code < 0x80 ? "\\x%02x"
                : code > 0xffff       ? "\\U%08x"
                                      : "\\u%04x",
                code);
  return text;
}

std::string visible(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    Character character = decode(text, at);
    if (!character.isValid || isHidden(character.code))
      shown += escape(character.code, !character.isValid);
    else
      shown += text.substr(at, character.bytes);
    at += character.bytes;
  }
  return shown;
}

size_t findHidden(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    unsigned char byte = static_cast<unsigned char>(text[at]);
    bool isPlain = (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\t' || byte == '\r';
    Character character = isPlain ? Character{1, true, byte} : decode(text, at);
    if (!isPlain && (!character.isValid || isHidden(character.code)))
      return at;
    at += character.bytes;
  }
  return std::string_view::npos;
}

static size_t countCharacters(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count)
    at += decode(text, at).bytes;
  return count;
}

static std::string_view beginning(std::string_view text, size_t characters) {
  size_t at = 0;
  for (size_t i = 0; i < characters && at < text.size(); ++i)
    at += decode(text, at).bytes;
  return text.substr(0, at);
}

static std::string markOf(size_t characters) { return " (" + std::to_string(characters) + " characters)"; }

std::string shortened(std::string_view value) {
  size_t characters = value.size() > limits::valueCharacters ? countCharacters(value) : 0;
  if (characters <= limits::valueCharacters)
    return visible(value);
  return visible(beginning(value, limits::valueCharacters)) + "..." + markOf(characters);
}

namespace {
/// Finds what a message quotes: texts in quotes, lists and objects in brackets, and words, and writes them
/// shortened.
class Shortener {
public:
  explicit Shortener(std::string_view text) : text(text), ends(text.size(), 0) {
    std::vector<size_t> open[2];
    for (size_t i = 0; i < text.size(); ++i) {
      size_t kind = text[i] == '{' || text[i] == '}';
      if (text[i] == '[' || text[i] == '{') {
        open[kind].push_back(i);
      } else if ((text[i] == ']' || text[i] == '}') && !open[kind].empty()) {
        ends[open[kind].back()] = i + 1;
        open[kind].pop_back();
      }
    }
  }

  std::string run() {
    while (at < text.size()) {
      char c = text[at];
      if (((c == '"' || c == '\'') && beginsQuote() && takeQuoted(c)) ||
          ((c == '[' || c == '{') && takeList()))
        continue;
      if (c == ' ' || isMark(c))
        add(text.substr(at, 1));
      else
        takeWord();
    }
    return shown;
  }

private:
  static bool isMark(char c) { return std::string_view("\"'[]{}()=").find(c) != std::string_view::npos; }
  static bool isOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  /// Not an apostrophe.
  bool beginsQuote() const { return at == 0 || !isOfName(text[at - 1]); }

  void add(std::string_view part) {
    shown += part;
    at += part.size();
  }

  /// Paths are said in full, as long as there may be such files; so are numbers of a flag's list.
  static size_t mostOf(std::string_view value) {
    bool isPath = value.find('/') != std::string_view::npos && value.find(' ') == std::string_view::npos;
    bool isList = value.find_first_not_of("0123456789,") == std::string_view::npos &&
                  value.find(',') != std::string_view::npos;
    bool isShortened = value.size() > 3 && value.substr(value.size() - 3) == "...";
    return isPath || isList ? limits::pathCharacters : limits::valueCharacters + (isShortened ? 3 : 0);
  }

  /// `begin` and `end`: how many bytes around it are quotes or brackets.
  void addValue(std::string_view whole, size_t around) {
    std::string_view value = whole.substr(around, whole.size() - 2 * around);
    size_t characters = value.size() > limits::valueCharacters ? countCharacters(value) : 0;
    if (characters <= mostOf(value))
      return add(whole);
    shown += whole.substr(0, around);
    shown += beginning(value, limits::valueCharacters);
    shown += "...";
    shown += whole.substr(whole.size() - around);
    shown += markOf(characters);
    at += whole.size();
  }

  bool takeQuoted(char quote) {
    bool &isOpen = quote == '"' ? isOpenTwo : isOpenOne;
    for (size_t end = at + 1; end < text.size() && !isOpen; ++end)
      if (text[end] == '\\')
        ++end;
      else if (text[end] == quote && (end + 1 == text.size() || !isOfName(text[end + 1]))) {
        addValue(text.substr(at, end + 1 - at), 1);
        return true;
      }
    isOpen = true;
    return false;
  }

  /// A short one is looked at in parts.
  bool takeList() {
    if (ends[at] < at + limits::valueCharacters + 2)
      return false;
    addValue(text.substr(at, ends[at] - at), 1);
    return true;
  }

  void takeWord() {
    size_t end = at;
    while (end < text.size() && text[end] != ' ' && !isMark(text[end]))
      ++end;
    addValue(text.substr(at, end - at), 0);
  }

  std::string_view text;
  std::vector<size_t> ends; ///< behind the bracket that closes one, or 0
  size_t at = 0;
  bool isOpenOne = false, isOpenTwo = false; ///< no quote of the kind is closed any more
  std::string shown;
};
} // namespace

std::string asMessage(std::string_view text) {
  std::string line = Shortener(text).run();
  size_t characters = line.size() > limits::messageCharacters ? countCharacters(line) : 0;
  if (characters <= limits::messageCharacters)
    return visible(line);
  return visible(beginning(line, limits::messageCharacters)) + "..." + markOf(characters);
}

std::string noteLine(std::string_view text) { return "note: " + asMessage(text) + "\n"; }

std::string errorLine(std::string_view text) {
  return "error: " + asMessage(nameSources(std::string(text))) + "\n";
}

} // namespace par::config
