#include "chat/MessageFormat.h"

namespace par::chat {

io::Status MessageFormat::open(const TurnFormat &given, const std::string &folder,
                               const text::Tokenizer &tokenizer) {
  turns = given;
  source = "--turn says";
  if (!turns.empty())
    return {};
  PAR_TRY(whole.open(folder));
  source = whole.source() + " says";
  if (whole.exists())
    return {};
  turns = TurnFormat::of(tokenizer);
  source = "the tokenizer's special tokens suggest; the model's folder has no chat template";
  return {};
}

static bool hasText(const Json &json, const char *key) {
  return json.is_object() && json.contains(key) && json[key].is_string();
}

io::Status MessageFormat::check(const Json &messages, const Json &tools) const {
  if (!messages.is_array())
    return io::Status::error("\"messages\" is no list");
  for (const Json &message : messages)
    if (!hasText(message, "role") || !hasText(message, "content"))
      return io::Status::error("a message has no strings \"role\" and \"content\"");
  if (turns.empty())
    return {};
  if (!tools.is_null())
    return io::Status::error("has \"tools\", which no --turn can write; take them out");
  for (const Json &message : messages)
    if (message.contains("tool_calls"))
      return io::Status::error("a message has \"tool_calls\", which no --turn can write; take them out");
  return {};
}

static size_t spacesBehind(const std::string &text) { return text.size() - (text.find_last_not_of(' ') + 1); }

io::Status MessageFormat::askByTurns(const Json &messages, std::string &text) const {
  TurnFormat::Frame frame;
  for (const Json &message : messages) {
    PAR_TRY(turns.frameOf(message["role"], frame));
    text += frame.before + message["content"].get_ref<const std::string &>() + frame.behind;
  }
  PAR_TRY(turns.frameOf("assistant", frame));
  text += frame.before.substr(0, frame.before.size() - spacesBehind(frame.before));
  return {};
}

io::Status MessageFormat::ask(const Json &messages, const Json &tools, std::string &text) const {
  text.clear();
  if (!turns.empty())
    return askByTurns(messages, text);
  io::Status status = whole.write(messages, tools, /*asks=*/true, text);
  return status.ok() ? status : io::Status::error(status.message() + "; give --turn ROLE=TEMPLATE");
}

/// Templates say it of an example. They may change the ends of a content, but not those of this one.
AnswerFrame MessageFormat::frameByTemplate() const {
  const std::string answer = "par's answer";
  Json messages = Json::array({{{"role", "user"}, {"content", "x"}}});
  std::string asked, answered;
  if (!whole.write(messages, nullptr, /*asks=*/true, asked).ok())
    return {};
  messages.push_back({{"role", "assistant"}, {"content", answer}});
  if (!whole.write(messages, nullptr, /*asks=*/false, answered).ok())
    return {};
  size_t at = answered.rfind(answer);
  if (at == std::string::npos)
    return {};
  bool areSpaces = at >= asked.size() && at - asked.size() <= spacesBehind(answered.substr(0, at));
  return {areSpaces ? at - asked.size() : 0, answered.substr(at + answer.size())};
}

AnswerFrame MessageFormat::answerFrame() const {
  if (turns.empty())
    return frameByTemplate();
  TurnFormat::Frame frame;
  if (!turns.frameOf("assistant", frame).ok())
    return {};
  return {spacesBehind(frame.before), frame.behind};
}

} // namespace par::chat
