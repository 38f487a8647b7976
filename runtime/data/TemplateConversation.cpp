#include "data/Conversations.h"

namespace par::data {

static bool beginsWith(const std::string &text, const std::string &part) {
  return text.compare(0, part.size(), part) == 0;
}

io::Status writeByTemplate(const chat::ChatTemplate &whole, const chat::Json &messages,
                           const chat::Json &tools, Conversation &conversation) {
  PAR_TRY(whole.write(messages, tools, /*asks=*/false, conversation.text));
  chat::Json before = chat::Json::array();
  for (const chat::Json &message : messages) {
    std::string asked, answered;
    bool isAnswer = message["role"] == "assistant";
    if (isAnswer)
      PAR_TRY(whole.write(before, tools, /*asks=*/true, asked));
    before.push_back(message);
    if (!isAnswer)
      continue;
    PAR_TRY(whole.write(before, tools, /*asks=*/false, answered));
    if (!beginsWith(answered, asked) || !beginsWith(conversation.text, answered))
      return io::Status::error(whole.source() +
                               ": writes what comes before an answer differently once the answer, "
                               "or more, follows, so that par cannot tell what is one");
    conversation.answers.push_back({asked.size(), answered.size()});
  }
  return {};
}

} // namespace par::data
