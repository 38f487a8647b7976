#include "data/Conversations.h"

#include "chat/ConversationJson.h"

namespace par::data {

using chat::Json;
using chat::Messages;

static bool hasText(const Json &json, const char *key) { return json.contains(key) && json[key].is_string(); }

/// Of a message that is trained all from the content on is an answer.
static io::Status writeByTurns(const chat::TurnFormat &turns, const Messages &messages,
                               Conversation &conversation) {
  for (size_t i = 0; i < messages.list.size(); ++i) {
    chat::TurnFormat::Frame frame;
    PAR_TRY(turns.frameOf(messages.roleOf(i), frame));
    size_t begin = conversation.text.size() + frame.before.size();
    conversation.text += frame.before + messages.list[i]["content"].get<std::string>() + frame.behind;
    if (messages.isTarget(i))
      conversation.answers.push_back({begin, conversation.text.size()});
  }
  return {};
}

io::Status LineReader::readConversation(const Json &line, Conversation &conversation) {
  Messages messages;
  PAR_TRY(chat::readMessages(line, leftOut, messages));
  if (!format.exists())
    return io::Status::error(
        "has \"messages\", but the model's folder has no chat template, and the tokenizer "
        "the special tokens of no chat format that is known; give --turn ROLE=TEMPLATE");
  PAR_TRY(format.check(messages, leftOut));
  if (messages.list.empty())
    return io::Status::error("has no message in \"messages\"; leave the line out");
  for (size_t i = 0; i < messages.list.size(); ++i) {
    conversation.roles.push_back(messages.roleOf(i));
    conversation.trainsOthers |= messages.isTarget(i) && messages.roleOf(i) != "assistant";
  }
  if (!format.turns.empty())
    return writeByTurns(format.turns, messages, conversation);
  io::Status status = writeByTemplate(format.whole, tokenizer, messages, conversation);
  return status.ok() ? status : io::Status::error(status.message() + "; give --turn ROLE=TEMPLATE");
}

io::Status LineReader::readPrompt(const Json &line, Conversation &conversation) {
  if (!hasText(line, "prompt") || !hasText(line, "completion")) {
    std::string remedy;
    if (chat::has(line, "conversations"))
      remedy = "; of ShareGPT's \"conversations\" say so by --lines sharegpt";
    if (chat::has(line, "instruction"))
      remedy = "; of Alpaca's \"instruction\" and \"output\" say so by --lines alpaca";
    return io::Status::error("has neither \"messages\" nor strings \"prompt\" and \"completion\"" + remedy);
  }
  PAR_TRY(chat::onlyKeys(line, {"prompt", "completion"}, leftOut));
  std::string prompt = line["prompt"], completion = line["completion"];
  conversation.text = prompt + completion;
  conversation.answers.push_back({prompt.size(), conversation.text.size()});
  return {};
}

io::Status LineReader::readObject(const Json &line, Conversation &conversation) {
  if (!chat::has(line, "messages"))
    return readPrompt(line, conversation);
  for (const char *other : {"prompt", "completion"})
    if (chat::has(line, other))
      return io::Status::error("has \"messages\" and \"" + std::string(other) +
                               "\", which both say what is trained; leave one of them out");
  PAR_TRY(chat::onlyKeys(line, {"messages", "tools", "chat_template_kwargs"}, leftOut));
  return readConversation(line, conversation);
}

io::Status LineReader::read(std::string_view text, Conversation &conversation) {
  conversation = {};
  Json line;
  PAR_TRY(chat::readJsonObject(text, line));
  if (lines == LineFormat::messages)
    return readObject(line, conversation);
  Json messages;
  PAR_TRY(lines == LineFormat::sharegpt ? fromShareGpt(line, leftOut, messages)
                                        : fromAlpaca(line, leftOut, messages));
  return readConversation(messages, conversation);
}

} // namespace par::data
