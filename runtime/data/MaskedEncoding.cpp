#include "data/MaskedEncoding.h"

#include "par/io/MaskedTokens.h"
#include "text/Utf8.h"

#include <algorithm>

namespace par::data {

/// Finds where tokens begin and end in their text; blanks that an added token takes are its own. A
/// space that the tokenizer puts before a word is not in the text: a token of it alone stands where the word
/// begins. False where a normalizer changed the text.
static bool findPlaces(const text::Tokenizer &tokenizer, std::string_view text,
                       const std::vector<uint32_t> &ids, std::vector<chat::Span> &places) {
  auto stands = [&](std::string_view bytes, size_t at) { return text.compare(at, bytes.size(), bytes) == 0; };
  size_t at = 0;
  for (uint32_t id : ids) {
    std::string_view bytes = tokenizer.bytes(id);
    size_t begin = at;
    if (!stands(bytes, at) && !bytes.empty() && bytes[0] == ' ' && stands(bytes.substr(1), at))
      bytes.remove_prefix(1);
    if (!stands(bytes, at))
      at += text::blanksAtBegin(text.substr(at));
    if (!stands(bytes, at))
      return false;
    at += bytes.size();
    if (tokenizer.takesBlanksBehind(id))
      at += text::blanksAtBegin(text.substr(at));
    places.push_back({begin, at});
  }
  for (size_t i = places.size(); i-- > 1;)
    if (places[i - 1].begin == places[i - 1].end)
      places[i - 1] = {places[i].begin, places[i].begin + 1};
  return text::blanksAtBegin(text.substr(at)) == text.size() - at;
}

/// Tokens up to where the text before `end` has others.
static io::Status countBefore(text::Encoder &encoder, const std::string &text, size_t end,
                              const std::vector<uint32_t> &ids, size_t &count) {
  std::vector<uint32_t> before;
  count = ids.size();
  if (end >= text.size())
    return {};
  PAR_TRY(encoder.encode(std::string_view(text).substr(0, end), before));
  size_t most = std::min(ids.size(), before.size());
  count = size_t(std::mismatch(ids.begin(), ids.begin() + int64_t(most), before.begin()).first - ids.begin());
  return {};
}

io::Status encodeMasked(text::Encoder &encoder, const text::Tokenizer &tokenizer,
                        const Conversation &conversation, MaskedIds &masked) {
  masked = {};
  std::vector<uint32_t> &ids = masked.ids;
  PAR_TRY(encoder.encode(conversation.text, ids));
  std::vector<chat::Span> places;
  bool isPlain = findPlaces(tokenizer, conversation.text, ids, places);
  std::vector<bool> isTarget(ids.size());
  for (const Conversation::Answer &answer : conversation.answers) {
    size_t begin = 0, end = 0;
    if (isPlain) {
      while (begin < ids.size() && places[begin].end <= answer.begin)
        ++begin;
      for (end = begin; end < ids.size() && places[end].begin < answer.end;)
        ++end;
    } else {
      PAR_TRY(countBefore(encoder, conversation.text, answer.begin, ids, begin));
      PAR_TRY(countBefore(encoder, conversation.text, answer.end, ids, end));
    }
    if (answer.begin >= answer.end || begin >= end)
      continue;
    std::fill(isTarget.begin() + int64_t(begin), isTarget.begin() + int64_t(end), true);
    masked.answers.push_back(end);
  }
  for (size_t i = 0; i < ids.size(); ++i)
    if (!isTarget[i])
      ids[i] |= io::maskedBit;
  return {};
}

} // namespace par::data
