#include "data/Conversations.h"

#include "chat/ConversationJson.h"

namespace par::data {

using chat::Json;

static bool hasText(const Json &json, const char *key) {
  return json.is_object() && json.contains(key) && json[key].is_string();
}

/// Of the role "assistant" all from the content on is an answer.
static io::Status writeByTurns(const chat::TurnFormat &turns, const Json &messages,
                               Conversation &conversation) {
  for (const Json &message : messages) {
    chat::TurnFormat::Frame frame;
    PAR_TRY(turns.frameOf(message["role"], frame));
    size_t begin = conversation.text.size() + frame.before.size();
    conversation.text += frame.before + message["content"].get<std::string>() + frame.behind;
    if (message["role"] == "assistant")
      conversation.answers.push_back({begin, conversation.text.size()});
  }
  return {};
}

static io::Status readMessages(const chat::MessageFormat &format, const Json &line,
                               Conversation &conversation) {
  const Json &messages = line["messages"];
  Json tools = line.contains("tools") ? line["tools"] : Json();
  conversation.hasMessages = true;
  if (!format.exists())
    return io::Status::error(
        "has \"messages\", but the model's folder has no chat template, and the tokenizer "
        "the special tokens of no chat format that is known; give --turn ROLE=TEMPLATE");
  PAR_TRY(format.check(messages, tools));
  if (messages.empty())
    return io::Status::error("has no message in \"messages\"; leave the line out");
  if (!format.turns.empty())
    return writeByTurns(format.turns, messages, conversation);
  io::Status status = writeByTemplate(format.whole, messages, tools, conversation);
  return status.ok() ? status : io::Status::error(status.message() + "; give --turn ROLE=TEMPLATE");
}

io::Status readConversation(const chat::MessageFormat &format, std::string_view line,
                            Conversation &conversation) {
  Json json;
  PAR_TRY(chat::readJsonObject(line, json));
  if (json.contains("messages")) {
    for (const char *other : {"prompt", "completion"})
      if (json.contains(other))
        return io::Status::error("has \"messages\" and \"" + std::string(other) +
                                 "\", which both say what is trained; leave one of them out");
    return readMessages(format, json, conversation);
  }
  if (!hasText(json, "prompt") || !hasText(json, "completion"))
    return io::Status::error("has neither \"messages\" nor strings \"prompt\" and \"completion\"");
  std::string prompt = json["prompt"], completion = json["completion"];
  conversation.text = prompt + completion;
  conversation.answers.push_back({prompt.size(), conversation.text.size()});
  return {};
}

} // namespace par::data
