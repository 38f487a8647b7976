#include "text/Tokenizer.h"

namespace par::text {

int64_t Tokenizer::find(const std::string &token) const {
  auto id = ids.find(token);
  return id == ids.end() ? -1 : int64_t(id->second);
}

io::Status Tokenizer::decode(const uint32_t *list, size_t count, std::string &text, bool begins) const {
  size_t before = text.size();
  for (size_t i = 0; i < count; ++i) {
    if (list[i] >= tokens.size() || !known[list[i]])
      return io::Status::error("token " + std::to_string(i) + " is " + std::to_string(list[i]) +
                               ", which is no id of the tokenizer");
    text += tokens[list[i]];
  }
  if (begins && dropsFirstSpace && text.size() > before && text[before] == ' ')
    text.erase(before, 1);
  return {};
}

} // namespace par::text
