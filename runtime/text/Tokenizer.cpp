#include "text/Tokenizer.h"

#include <algorithm>

namespace par::text {

int64_t Tokenizer::find(const std::string &token) const {
  auto id = ids.find(token);
  return id == ids.end() ? -1 : int64_t(id->second);
}

bool Tokenizer::isByte(uint32_t id) const {
  return model.byCharacter && tokens[id].size() == 1 &&
         model.byteIds[static_cast<unsigned char>(tokens[id][0])] == id;
}

bool Tokenizer::hasPrefix(const std::vector<uint32_t> &list, uint32_t mask) const {
  return !before.empty() && list.size() >= before.size() &&
         std::equal(before.begin(), before.end(), list.begin(),
                    [mask](uint32_t own, uint32_t id) { return own == (id & mask); });
}

int64_t Tokenizer::findAdded(std::string_view text) const {
  AddedTokens::Match match = {text.size(), 0, 0, 0, false}, other;
  bool found = exactTokens.find(text, 0, match);
  if (normalizedTokens.find(text, 0, other) && other.begin < match.begin)
    match = other, found = true;
  return found ? int64_t(match.id) : -1;
}

bool Tokenizer::findAdded(std::string_view text, size_t from, size_t &begin, size_t &end) const {
  AddedTokens::Match match, other;
  bool found = exactTokens.find(text, from, match);
  if (normalizedTokens.find(text, from, other) && (!found || other.begin < match.begin))
    match = other, found = true;
  if (found)
    begin = match.begin, end = match.next;
  return found;
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
