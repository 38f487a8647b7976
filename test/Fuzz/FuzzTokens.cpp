// Files of tokens, as par-run reads them. The first bytes choose how.
#include "Fuzz.h"
#include "par/io/TokenData.h"

#include <vector>

using namespace par;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4)
    return 0;
  int64_t sequence = 1 + data[0];
  uint32_t vocabulary = 1 + (uint32_t(data[1]) << (data[2] & 15));
  auto type = io::TokenType(data[3] & 3);
  io::TokenData tokens;
  if (!tokens.open(fuzz::fileWith(data + 4, size - 4), type, sequence, vocabulary, 0).ok())
    return 0;
  if (!tokens.checkVocabulary(INT64_MAX).ok())
    return 0;
  std::vector<int32_t> window(size_t(sequence + 1));
  for (int64_t i = 0; i < tokens.windowCount() + 1; ++i)
    tokens.window(i, window.data());
  return 0;
}
