#include "data/MaskedEncoding.h"

#include "par/io/MaskedTokens.h"

#include <algorithm>

namespace par::data {

io::Status encodeMasked(text::Encoder &encoder, const Conversation &conversation,
                        std::vector<uint32_t> &ids) {
  ids.clear();
  PAR_TRY(encoder.encode(conversation.text, ids));
  auto countBefore = [&](size_t end, size_t &count) {
    std::vector<uint32_t> before;
    count = ids.size();
    if (end < conversation.text.size())
      PAR_TRY(encoder.encode(std::string_view(conversation.text).substr(0, end), before));
    if (end < conversation.text.size())
      count = size_t(std::mismatch(ids.begin(), ids.end(), before.begin(), before.end()).first - ids.begin());
    return io::Status();
  };
  std::vector<bool> isTarget(ids.size());
  for (const Conversation::Answer &answer : conversation.answers) {
    size_t begin, end;
    PAR_TRY(countBefore(answer.begin, begin));
    PAR_TRY(countBefore(answer.end, end));
    std::fill(isTarget.begin() + int64_t(begin), isTarget.begin() + int64_t(std::max(begin, end)), true);
  }
  for (size_t i = 0; i < ids.size(); ++i)
    if (!isTarget[i])
      ids[i] |= io::maskedBit;
  return {};
}

} // namespace par::data
