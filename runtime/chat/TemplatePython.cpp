#include "chat/TemplatePython.h"

#include "chat/TemplateValues.h"
#include "text/Utf8.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace par::chat {

using Names = std::set<std::string>;

bool hasAttribute(const Json &value, const std::string &name) {
  static const Names ofObjects = {"clear", "copy",    "fromkeys",   "get",    "items", "keys",
                                  "pop",   "popitem", "setdefault", "update", "values"};
  static const Names ofLists = {"append", "clear", "copy",   "count",   "extend", "index",
                                "insert", "pop",   "remove", "reverse", "sort"};
  static const Names ofNumbers = {"as_integer_ratio", "bit_count",  "bit_length", "conjugate", "denominator",
                                  "fromhex",          "from_bytes", "hex",        "imag",      "is_integer",
                                  "numerator",        "real",       "to_bytes"};
  static const Names ofTexts = {
      "capitalize", "casefold",     "center",       "count",   "encode",     "endswith",    "expandtabs",
      "find",       "format",       "format_map",   "index",   "isalnum",    "isalpha",     "isascii",
      "isdecimal",  "isdigit",      "isidentifier", "islower", "isnumeric",  "isprintable", "isspace",
      "istitle",    "isupper",      "join",         "ljust",   "lower",      "lstrip",      "maketrans",
      "partition",  "removeprefix", "removesuffix", "replace", "rfind",      "rindex",      "rjust",
      "rpartition", "rsplit",       "rstrip",       "split",   "splitlines", "startswith",  "strip",
      "swapcase",   "title",        "translate",    "upper",   "zfill"};
  static const Names none;
  const Names &names = value.is_object()   ? ofObjects
                       : value.is_array()  ? ofLists
                       : value.is_string() ? ofTexts
                       : value.is_null()   ? none
                                           : ofNumbers;
  return name.rfind('_', 0) == 0 || names.count(name);
}

/// A letter as Python writes it in a text in quotes.
static std::string escape(uint32_t letter, char mark) {
  static const char special[] = "\n\r\t\\", names[] = "nrt\\";
  if (const char *found = letter && letter < 0x80 ? std::strchr(special, int(letter)) : nullptr)
    return std::string("\\") + names[found - special];
  if (letter == uint32_t(mark))
    return std::string("\\") + mark;
  std::string own;
  text::appendUtf8(own, letter);
  char hex[16];
  std::snprintf(hex, sizeof(hex),
                letter < 0x100     ? "\\x%02x"
                : letter < 0x10000 ? "\\u%04x"
                                   : "\\U%08x",
                letter);
  return text::isPrintable(letter) ? own : hex;
}

static std::string quote(const std::string &text, int line) {
  bool isDouble = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  char mark = isDouble ? '"' : '\'';
  std::string quoted(1, mark);
  if (text::findInvalidUtf8(text) != std::string::npos)
    throw TemplateError(line, "a text that is no UTF-8");
  for (size_t at = 0; at < text.size();) {
    uint32_t letter = text::nextCodePoint(text, at);
    if (!text::isAssigned(letter))
      throw TemplateError(line,
                          "a letter that Unicode may have by now would be written as Python writes lists");
    quoted += escape(letter, mark);
  }
  return quoted + mark;
}

std::string represent(const Json &value, int line) {
  if (value.is_string())
    return quote(value, line);
  if (isUndefined(value))
    return "Undefined";
  if (!value.is_structured())
    return toText(value, line);
  std::string text(1, value.is_object() ? '{' : '[');
  bool isFirst = true;
  for (const auto &[key, item] : value.items()) {
    text += std::string(isFirst ? "" : ", ") + (value.is_object() ? quote(key, line) + ": " : "");
    text = limited(std::move(text) + represent(item, line), line);
    isFirst = false;
  }
  return text + (value.is_object() ? '}' : ']');
}

std::string representNumber(double value, int line) {
  if (!(std::fabs(value) < 0x1p63))
    throw TemplateError(line, "a number of more than 64 bits is written");
  char text[32] = {};
  std::to_chars(text, text + sizeof(text) - 1, std::fabs(value), std::chars_format::scientific);
  std::string digits(1, text[0]);
  char *exponent = std::strchr(text, 'e');
  if (text[1] == '.')
    digits.append(text + 2, exponent);
  int before = std::atoi(exponent + 1) + 1, count = int(digits.size()); // digits before the point
  std::string sign = std::signbit(value) ? "-" : "";
  if (before <= -4 || before > 16) {
    if (count > 1)
      digits.insert(1, ".");
    return sign + digits + exponent; // with two digits at least, in both languages
  }
  if (before <= 0)
    return sign + "0." + std::string(size_t(-before), '0') + digits;
  if (count <= before)
    return sign + digits + std::string(size_t(before - count), '0') + ".0";
  return sign + digits.insert(size_t(before), ".");
}

//--- Upper and lower case. Beyond ASCII that is Unicode's business.

template <typename Begins>
static std::string withCapitals(std::string text, int line, Begins begins) {
  char before = 0;
  for (char &letter : text) {
    if (letter & 0x80)
      throw TemplateError(line,
                          "upper or lower case of letters beyond ASCII is not among what par evaluates");
    char own = letter;
    letter = char(begins(before) ? toupper(letter) : tolower(letter));
    before = own;
  }
  return text;
}

std::string toTitle(const std::string &text, int line) {
  return withCapitals(text, line, [](char before) { return !isalpha(static_cast<unsigned char>(before)); });
}

std::string capitalize(const std::string &text, int line) {
  bool isFirst = true;
  return withCapitals(text, line, [&](char) { return std::exchange(isFirst, false); });
}

std::string toTitleByWords(const std::string &text, int line) {
  return withCapitals(text, line, [](char before) {
    return !before || std::strchr("-({[< \t\n\v\f\r\x1c\x1d\x1e\x1f", before) != nullptr;
  });
}

} // namespace par::chat
