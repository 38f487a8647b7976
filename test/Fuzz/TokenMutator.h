/// Changes words and signs of a program text: mutations of bytes alone hardly ever pass the parser.
#ifndef PAR_TEST_TOKENMUTATOR_H
#define PAR_TEST_TOKENMUTATOR_H

#include <cctype>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace par::fuzz {

/// Words (with the sign that says what they name), and every other character by itself.
inline std::vector<std::string> tokensOf(const std::string &text) {
  std::vector<std::string> tokens;
  auto ofWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || (c && std::strchr("_.$", c));
  };
  for (size_t at = 0, end; at < text.size(); at = end) {
    end = at + 1;
    if (ofWord(text[at]) || (text[at] && std::strchr("%@#!-", text[at])))
      while (end < text.size() && ofWord(text[end]))
        ++end;
    tokens.push_back(text.substr(at, end - at));
  }
  return tokens;
}

/// A number that readers like to get wrong.
inline std::string interestingNumber(std::mt19937 &random) {
  static const char *const numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "7",
                                        "64",
                                        "1000000",
                                        "4294967296",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551616",
                                        "0.5",
                                        "1e308",
                                        "?"};
  return numbers[random() % (sizeof(numbers) / sizeof(numbers[0]))];
}

inline void changeToken(std::vector<std::string> &tokens, std::mt19937 &random) {
  auto any = [&] { return tokens.begin() + long(random() % tokens.size()); };
  std::string other = *any();
  auto place = any();
  switch (random() % 5) {
  case 0: // another word of the text
  case 1:
    *place = other;
    break;
  case 2:
    tokens.insert(place, other);
    break;
  case 3:
    if (tokens.size() > 1)
      tokens.erase(place);
    break;
  case 4: // a number, where there is one
    for (size_t tries = tokens.size(); tries > 0 && !std::isdigit(static_cast<unsigned char>(place->front()));
         --tries)
      place = any();
    *place = interestingNumber(random);
    break;
  }
}

/// Mostly changes some tokens of the text, else bytes.
inline size_t mutateTokens(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> tokens = tokensOf({reinterpret_cast<const char *>(data), size});
  if (tokens.empty() || random() % 4 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned times = 1 + random() % 3; times > 0; --times)
    changeToken(tokens, random);
  std::string text;
  for (const std::string &token : tokens)
    text += token;
  if (text.empty() || text.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

} // namespace par::fuzz
#endif
