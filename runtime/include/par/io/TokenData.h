/// Training data as an endless sequence of windows of tokens (tools' contract, item 2).
#ifndef PAR_IO_TOKENDATA_H
#define PAR_IO_TOKENDATA_H

#include "par/io/Files.h"
#include "par/io/Status.h"

#include <cstdint>
#include <string>

namespace par::io {

/// Element type of a file of tokens, little-endian and without a header.
enum class TokenType { automatic, uint8, uint16, uint32 };

/// Window i = tokens i·(seq+1) … of a file; its input is the first `seq` of them, its target the last `seq`. After the last
/// whole window, window 0 follows. Random data never repeats.
class TokenData {
public:
  /// `source` is "random" or a file: *.bin is uint16 (uint32 when `vocabulary` > 65536), any other file bytes;
  /// `type` overrides that. A file must hold a window at least.
  Status open(const std::string &source, TokenType type, int64_t sequence, uint32_t vocabulary, uint64_t seed);

  /// Checks that every token of windows 0 … count-1 is below the vocabulary.
  Status checkVocabulary(int64_t count) const;

  /// Writes the sequence + 1 tokens of a window.
  void window(int64_t number, int32_t *tokens) const;

  /// Windows of the file, 0 for random data.
  int64_t windowCount() const { return windows; }

private:
  uint32_t token(int64_t position) const;

  MappedFile file;
  std::string path;
  TokenType type = TokenType::automatic;
  int64_t length = 0, windows = 0, sequence = 0;
  uint32_t vocabulary = 0;
  uint64_t seed = 0;
  bool random = false;
};

} // namespace par::io
#endif
