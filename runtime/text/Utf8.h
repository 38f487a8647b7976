/// UTF-8: checking and code points.
#ifndef PAR_TEXT_UTF8_H
#define PAR_TEXT_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace par::text {

/// Offset of the first byte that belongs to no well-formed sequence (no surrogates, no overlong forms), or
/// npos.
size_t findInvalidUtf8(std::string_view text);

/// Any bytes may stand at a place: a character, the beginning of one that ends with the text, or bytes
/// that belong to none, as many as Unicode advises to replace by one U+FFFD.
enum class Sequence { whole, cut, broken };
Sequence sequenceAt(std::string_view text, size_t at, size_t &length);

/// The code point at `at` of well-formed text; moves `at` behind it.
uint32_t nextCodePoint(std::string_view text, size_t &at);

/// What Python's str.isprintable() says of one: no control character, no format, and of blanks only the
/// space. Unassigned ones are none, too.
bool isPrintable(uint32_t codePoint);
/// Whether Unicode has it, as far as this machine's tables go.
bool isAssigned(uint32_t codePoint);

void appendUtf8(std::string &out, uint32_t codePoint);

/// Whether a letter, mark, digit or underscore (\w of regular expressions) is a text's last or first
/// character.
bool endsWithWord(std::string_view text);
bool beginsWithWord(std::string_view text);
/// Bytes of Unicode's white space there.
size_t blanksAtEnd(std::string_view text);
size_t blanksAtBegin(std::string_view text);

} // namespace par::text
#endif
