#include "par/io/TokenData.h"

#include "par/io/Philox.h"

#include <algorithm>
#include <cstring>

namespace par::io {

static int64_t bytesOf(TokenType type) {
  return type == TokenType::uint8 ? 1 : type == TokenType::uint16 ? 2 : 4;
}

static bool endsWith(const std::string &text, const char *suffix) {
  size_t length = std::strlen(suffix);
  return text.size() >= length && text.compare(text.size() - length, length, suffix) == 0;
}

Status TokenData::open(const std::string &source, TokenType wanted, int64_t seq, uint32_t vocab, uint64_t randomSeed) {
  path = source, type = wanted, sequence = seq, vocabulary = vocab, seed = randomSeed;
  random = source == "random";
  if (random)
    return {};
  if (type == TokenType::automatic)
    type = !endsWith(path, ".bin") ? TokenType::uint8 : vocab <= 65536 ? TokenType::uint16 : TokenType::uint32;
  PAR_TRY(file.open(path));
  int64_t bytes = int64_t(file.size());
  if (bytes % bytesOf(type) != 0)
    return Status::error(path + ": has " + std::to_string(bytes) + " bytes, which is no whole number of " +
                         std::to_string(bytesOf(type)) + "-byte tokens; give the right --data-dtype");
  length = bytes / bytesOf(type);
  windows = length / (sequence + 1);
  if (windows == 0)
    return Status::error(path + ": has " + std::to_string(length) + " tokens, but one window of seq + 1 needs " +
                         std::to_string(sequence + 1) + "; give a longer file or compile with a smaller --seq");
  return {};
}

uint32_t TokenData::token(int64_t position) const {
  const unsigned char *at = file.data() + position * bytesOf(type);
  if (type == TokenType::uint8)
    return *at;
  if (type == TokenType::uint16)
    return uint32_t(at[0]) | uint32_t(at[1]) << 8;
  return uint32_t(at[0]) | uint32_t(at[1]) << 8 | uint32_t(at[2]) << 16 | uint32_t(at[3]) << 24;
}

Status TokenData::checkVocabulary(int64_t count) const {
  if (random || (type == TokenType::uint8 && vocabulary >= 256) || (type == TokenType::uint16 && vocabulary >= 65536))
    return {};
  int64_t end = std::min(count, windows) * (sequence + 1);
  for (int64_t i = 0; i < end; ++i)
    if (token(i) >= vocabulary)
      return Status::error(path + ": token " + std::to_string(i) + " is " + std::to_string(token(i)) +
                           ", but the model's vocabulary has ids 0 to " + std::to_string(vocabulary - 1) +
                           "; tokenize for this model or give the right --data-dtype");
  return {};
}

void TokenData::window(int64_t number, int32_t *tokens) const {
  int64_t size = sequence + 1;
  int64_t begin = (random ? number : number % windows) * size;
  for (int64_t i = 0; i < size; ++i)
    tokens[i] = int32_t(random ? randomToken(seed, uint64_t(begin + i), vocabulary) : token(begin + i));
}

} // namespace par::io
