// Lines of conversations with a template: an input is a template, a byte 0, and a line of JSON (or of
// ShareGPT or Alpaca, as the first byte says). What is accepted: answers lie in the text, in order, and every
// token is a target or not.
#include "Fuzz.h"
#include "data/Conversations.h"
#include "data/MaskedEncoding.h"
#include "par/io/Files.h"
#include "par/io/MaskedTokens.h"

#include <filesystem>
#include <string_view>

using namespace par;

namespace {

struct Model {
  Model() {
    folder = "/dev/shm/par-fuzz-chat-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    if (!tokenizer.open(PAR_TEST_DIR "/Golden/tokenizer/gpt2.json").ok())
      __builtin_trap();
  }
  ~Model() { std::filesystem::remove_all(folder); }
  std::string folder;
  text::Tokenizer tokenizer;
};

void check(const data::Conversation &conversation, const text::Tokenizer &tokenizer) {
  size_t at = 0;
  for (const chat::Span &answer : conversation.answers) {
    if (answer.begin < at || answer.end < answer.begin || answer.end > conversation.text.size())
      __builtin_trap();
    at = answer.begin;
  }
  text::Encoder encoder(tokenizer);
  data::MaskedIds masked;
  std::vector<uint32_t> plain;
  if (!data::encodeMasked(encoder, tokenizer, conversation, masked).ok())
    return;
  if (!encoder.encode(conversation.text, plain).ok() || plain.size() != masked.ids.size())
    __builtin_trap();
  for (size_t i = 0; i < plain.size(); ++i)
    if ((masked.ids[i] & ~io::maskedBit) != plain[i])
      __builtin_trap();
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static Model model;
  std::string_view input(reinterpret_cast<const char *>(bytes), size);
  size_t end = input.find('\0');
  if (size < 2 || end == std::string_view::npos || end == 0)
    return 0;
  data::LineFormat lines = input[0] == 's'   ? data::LineFormat::sharegpt
                           : input[0] == 'a' ? data::LineFormat::alpaca
                                             : data::LineFormat::messages;
  chat::MessageFormat format;
  chat::TurnFormat turns;
  std::string_view source = input.substr(1, end - 1);
  if (source.empty())
    turns.add("*=[{role}] {content}\n");
  else if (!io::writeFile(model.folder + "/chat_template.jinja", source).ok())
    return 0;
  if (!format.open(turns, model.folder, model.tokenizer).ok())
    return 0;
  data::LineReader reader{format, model.tokenizer, lines, {}};
  data::Conversation conversation;
  io::Status status = reader.read(input.substr(end + 1), conversation);
  if (status.ok())
    check(conversation, model.tokenizer);
  return 0;
}
