#include "flags/Values.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <system_error>

namespace par::flags {

std::string unescape(const std::string &text) {
  static const std::map<char, char> escapes = {{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'\\', '\\'}};
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    auto escape = text[i] == '\\' && i + 1 < text.size() ? escapes.find(text[i + 1]) : escapes.end();
    if (escape != escapes.end())
      ++i;
    result += escape != escapes.end() ? escape->second : text[i];
  }
  return result;
}

std::string isNot(const std::string &text, const std::string &expected) {
  return "is '" + text + "', expected " + expected;
}

static std::string describe(const IntegerRange &range, bool withMost) {
  if (range.most == std::numeric_limits<int64_t>::max() && !withMost)
    return "an integer of at least " + std::to_string(range.least);
  return "an integer from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

static std::string shortest(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

static std::string describe(const NumberRange &range) {
  std::string text =
      "a finite number " + std::string(range.aboveLeast ? "above " : "of at least ") + shortest(range.least);
  if (std::isfinite(range.most))
    text += std::string(range.belowMost ? " and below " : " and at most ") + shortest(range.most);
  return text;
}

/// All of the text, or an error.
template <typename Number>
static std::errc convert(const std::string &text, Number &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end != text.data() + text.size())
    return std::errc::invalid_argument;
  return error;
}

std::string readInteger(const std::string &text, const IntegerRange &range, int64_t &value) {
  int64_t number = 0;
  std::errc error = convert(text, number);
  if (error == std::errc() && number >= range.least && number <= range.most) {
    value = number;
    return "";
  }
  // Where only the type ends the range, its end is worth a word to those who went beyond.
  return isNot(text, describe(range, error == std::errc::result_out_of_range));
}

std::string readUnsigned(const std::string &text, uint64_t &value) {
  uint64_t number = 0;
  if (convert(text, number) != std::errc())
    return isNot(text, "an integer from 0 to " + std::to_string(std::numeric_limits<uint64_t>::max()));
  value = number;
  return "";
}

std::string readNumber(const std::string &text, const NumberRange &range, double &value) {
  double number = 0;
  std::errc error = convert(text, number);
  if (error == std::errc::result_out_of_range)
    return isNot(text, "a number that a 64-bit float holds");
  bool valid = error == std::errc() && std::isfinite(number) &&
               (range.aboveLeast ? number > range.least : number >= range.least) &&
               (range.belowMost ? number < range.most : number <= range.most);
  if (!valid)
    return isNot(text, describe(range));
  value = number;
  return "";
}

} // namespace par::flags
