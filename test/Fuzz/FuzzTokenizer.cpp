// tokenizer.json: any file is read or refused, and what is read encodes and decodes.
#include "Fuzz.h"
#include "JsonMutator.h"
#include "text/Encoder.h"

#include <cstdlib>

using namespace par;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  text::Tokenizer tokenizer;
  if (!tokenizer.parse("t.json", {reinterpret_cast<const char *>(data), size}).ok())
    return 0;
  text::Encoder encoder(tokenizer);
  std::vector<uint32_t> ids;
  std::string back;
  if (!encoder.encode("Hello, w\u00f6rld! e\u0301 \U0001F600\n\n 123 <|endoftext|>", ids).ok())
    return 0;
  if (!tokenizer.decode(ids.data(), ids.size(), back).ok())
    std::abort();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateJson(data, size, maxSize, seed);
}
