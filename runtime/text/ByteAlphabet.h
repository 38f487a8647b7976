/// GPT-2's byte alphabet: every byte as one printable character, so that vocabularies can be text. The 188
/// bytes that print in Latin-1 are themselves; the others are U+0100, U+0101, … in order.
#ifndef PAR_TEXT_BYTEALPHABET_H
#define PAR_TEXT_BYTEALPHABET_H

#include <cstdint>
#include <string>
#include <string_view>

namespace par::text {

/// The character that stands for a byte.
uint32_t characterOf(unsigned char byte);

/// The bytes that a token of well-formed UTF-8 spells; false when a character of it stands for no byte.
bool bytesOfToken(std::string_view token, std::string &bytes);

} // namespace par::text
#endif
