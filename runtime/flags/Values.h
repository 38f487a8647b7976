/// Values of flags: text to numbers, all or nothing, and what to say of a text that is none.
#ifndef PAR_FLAGS_VALUES_H
#define PAR_FLAGS_VALUES_H

#include <cstdint>
#include <limits>
#include <string>

namespace par::flags {

struct IntegerRange {
  int64_t least = 0, most = std::numeric_limits<int64_t>::max();
};

/// Always of finite numbers.
struct NumberRange {
  double least = 0, most = std::numeric_limits<double>::infinity();
  bool aboveLeast = false; ///< `least` itself is none of them
  bool belowMost = false;  ///< nor is `most`
};

/// Each of these returns nothing, or what is wrong: "is 'abc', expected an integer of at least 1".
std::string readInteger(const std::string &text, const IntegerRange &range, int64_t &value);
std::string readUnsigned(const std::string &text, uint64_t &value);
std::string readNumber(const std::string &text, const NumberRange &range, double &value);

/// The text with \n, \t, \r and \\ as what they mean, which shells make hard to type.
std::string unescape(const std::string &text);

/// "is 'text', expected …".
std::string isNot(const std::string &text, const std::string &expected);

} // namespace par::flags
#endif
