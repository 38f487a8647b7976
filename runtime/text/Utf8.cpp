#include "text/Utf8.h"

#include <utf8proc.h>

#include <cstring>

namespace par::text {

/// Length of the sequence that the lead byte begins, 0 for none, with the range of its second byte: that
/// alone rules out overlong forms, surrogates and what lies beyond U+10FFFF (Unicode, table 3-7).
static size_t sequenceLength(unsigned char lead, unsigned char &low, unsigned char &high) {
  low = 0x80, high = 0xBF;
  if (lead < 0x80)
    return 1;
  if (lead < 0xC2 || lead > 0xF4)
    return 0;
  if (lead < 0xE0)
    return 2;
  if (lead == 0xE0)
    low = 0xA0;
  else if (lead == 0xED)
    high = 0x9F;
  else if (lead == 0xF0)
    low = 0x90;
  else if (lead == 0xF4)
    high = 0x8F;
  return lead < 0xF0 ? 3 : 4;
}

size_t findInvalidUtf8(std::string_view text) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(text.data());
  size_t at = 0, size = text.size();
  while (at < size) {
    uint64_t eight;
    if (size - at >= 8 && (std::memcpy(&eight, bytes + at, 8), (eight & 0x8080808080808080ull) == 0)) {
      at += 8;
      continue;
    }
    unsigned char low, high;
    size_t length = sequenceLength(bytes[at], low, high);
    if (length == 0 || length > size - at)
      return at;
    if (length > 1 && (bytes[at + 1] < low || bytes[at + 1] > high))
      return at;
    for (size_t i = 2; i < length; ++i)
      if ((bytes[at + i] & 0xC0) != 0x80)
        return at;
    at += length;
  }
  return std::string_view::npos;
}

Sequence sequenceAt(std::string_view text, size_t at, size_t &length) {
  unsigned char low, high;
  size_t whole = sequenceLength(static_cast<unsigned char>(text[at]), low, high);
  for (length = 1; length < whole; ++length, low = 0x80, high = 0xBF) {
    if (at + length == text.size())
      return Sequence::cut;
    auto byte = static_cast<unsigned char>(text[at + length]);
    if (byte < low || byte > high)
      return Sequence::broken;
  }
  return whole == 0 ? Sequence::broken : Sequence::whole;
}

uint32_t nextCodePoint(std::string_view text, size_t &at) {
  auto byte = [&](size_t i) { return uint32_t(static_cast<unsigned char>(text[at + i])); };
  uint32_t lead = byte(0), value;
  if (lead < 0x80)
    return ++at, lead;
  if (lead < 0xE0) {
    value = (lead & 0x1F) << 6 | (byte(1) & 0x3F);
    return at += 2, value;
  }
  if (lead < 0xF0) {
    value = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    return at += 3, value;
  }
  value = (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  return at += 4, value;
}

bool isPrintable(uint32_t codePoint) {
  switch (utf8proc_category(utf8proc_int32_t(codePoint))) {
  case UTF8PROC_CATEGORY_CN:
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_CO:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return false;
  case UTF8PROC_CATEGORY_ZS:
    return codePoint == ' ';
  default:
    return true;
  }
}

bool isAssigned(uint32_t codePoint) {
  return utf8proc_category(utf8proc_int32_t(codePoint)) != UTF8PROC_CATEGORY_CN;
}

void appendUtf8(std::string &out, uint32_t c) {
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += {char(0xC0 | c >> 6), char(0x80 | (c & 0x3F))};
  } else if (c < 0x10000) {
    out += {char(0xE0 | c >> 12), char(0x80 | (c >> 6 & 0x3F)), char(0x80 | (c & 0x3F))};
  } else {
    out += {char(0xF0 | c >> 18), char(0x80 | (c >> 12 & 0x3F)), char(0x80 | (c >> 6 & 0x3F)),
            char(0x80 | (c & 0x3F))};
  }
}

/// Unicode's Alphabetic (letters, letters as numbers, and circled ones), marks, decimal digits, connectors
/// and joiners: what `\w` is for Rust's regular expressions, which Hugging Face's tokenizers use.
static bool isWordLetter(uint32_t codePoint) {
  auto isWithin = [&](uint32_t first, uint32_t last) { return codePoint >= first && codePoint <= last; };
  switch (utf8proc_category(utf8proc_int32_t(codePoint))) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_PC:
    return true;
  default:
    return isWithin(0x200C, 0x200D) || isWithin(0x24B6, 0x24E9) || isWithin(0x1F130, 0x1F149) ||
           isWithin(0x1F150, 0x1F169) || isWithin(0x1F170, 0x1F189);
  }
}

/// Unicode's White_Space.
static bool isBlank(uint32_t codePoint) {
  return (codePoint >= 9 && codePoint <= 13) || codePoint == 0x20 || codePoint == 0x85 || codePoint == 0xA0 ||
         codePoint == 0x1680 || (codePoint >= 0x2000 && codePoint <= 0x200A) || codePoint == 0x2028 ||
         codePoint == 0x2029 || codePoint == 0x202F || codePoint == 0x205F || codePoint == 0x3000;
}

/// The last code point of a text that has one, and where it begins.
static uint32_t lastCodePoint(std::string_view text, size_t &begin) {
  begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    --begin;
  size_t at = begin;
  return nextCodePoint(text, at);
}

bool endsWithWord(std::string_view text) {
  size_t begin;
  return !text.empty() && isWordLetter(lastCodePoint(text, begin));
}

bool beginsWithWord(std::string_view text) {
  size_t at = 0;
  return !text.empty() && isWordLetter(nextCodePoint(text, at));
}

size_t blanksAtEnd(std::string_view text) {
  size_t left = text.size();
  for (size_t begin; left > 0 && isBlank(lastCodePoint(text.substr(0, left), begin));)
    left = begin;
  return text.size() - left;
}

size_t blanksAtBegin(std::string_view text) {
  size_t blanks = 0;
  for (size_t at = 0; blanks < text.size() && isBlank(nextCodePoint(text, at));)
    blanks = at;
  return blanks;
}

} // namespace par::text
