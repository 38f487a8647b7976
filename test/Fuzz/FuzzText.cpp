// Text: whatever the bytes, encoding says why not or gives tokens that decode to the same bytes.
#include "Fuzz.h"
#include "text/Encoder.h"

#include <cstdlib>
#include <memory>

using namespace par;

namespace {
/// A tokenizer of the golden cases without a normalizer.
struct Case {
  text::Tokenizer tokenizer;
  std::unique_ptr<text::Encoder> encoder;
  Case(const char *name) {
    if (!tokenizer.open(std::string(PAR_TEST_DIR "/Golden/tokenizer/") + name).ok())
      std::abort();
    encoder = std::make_unique<text::Encoder>(tokenizer);
  }
};
} // namespace

static void roundTrip(Case &with, std::string_view text) {
  std::vector<uint32_t> ids;
  std::string back;
  if (!with.encoder->encode(text, ids).ok())
    return;
  if (!with.tokenizer.decode(ids.data(), ids.size(), back).ok() || back != text)
    std::abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Case gpt2("gpt2.json"), llama3("llama3.json"), qwen2("qwen2.json");
  std::string_view text(reinterpret_cast<const char *>(data), size);
  roundTrip(gpt2, text);
  roundTrip(llama3, text);
  // Normalized text is not the text, but normalizing twice is normalizing once.
  std::vector<uint32_t> once, twice;
  std::string back;
  if (qwen2.encoder->encode(text, once).ok() && qwen2.tokenizer.decode(once.data(), once.size(), back).ok() &&
      (!qwen2.encoder->encode(back, twice).ok() || once.size() < twice.size()))
    std::abort();
  return 0;
}
