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

/// What tells messages apart and is no text: templates may read it.
static bool isName(const std::string &key) { return key == "name" || key == "tool_call_id" || key == "id"; }

io::Status MessageFormat::checkByTurns(const Messages &messages, const LeftOut &leftOut) const {
  for (const auto &[key, value] : {std::pair<const char *, const Json &>("tools", messages.tools),
                                   {"chat_template_kwargs", messages.settings}})
    if (!value.is_null() && !value.empty())
      return io::Status::error("has \"" + std::string(key) + "\", which no --turn can write; " +
                               leftOut.remedy(key));
  for (size_t i = 0; i < messages.list.size(); ++i) {
    const Json &message = messages.list[i];
    for (const auto &[key, value] : message.items())
      if (key != "role" && key != "content" && !value.is_null())
        return io::Status::error(nameOfMessage(i) + " has " + quoted(key) + ", which no --turn can write; " +
                                 leftOut.remedy(key));
    if (!message.contains("content") || !message["content"].is_string())
      return io::Status::error(
          nameOfMessage(i) + " has " +
          (message.contains("content") && message["content"].is_array()
               ? "a list of parts as \"content\", which no --turn can write; make one text "
                 "of them"
               : "no text as \"content\""));
  }
  return {};
}

/// A template may read a value by its own name, or as the reasoning, which templates find under other names,
/// too.
static bool reads(const ChatTemplate &whole, const Json &message, const std::string &key, const Json &value) {
  bool isReasoning = key == "reasoning_content" || key == "thinking" || key == "reasoning";
  return whole.readsKey(key) || (isReasoning && value == *reasoningOf(message) &&
                                 (whole.readsKey("reasoning_content") || whole.readsKey("thinking")));
}

io::Status MessageFormat::checkByTemplate(const Messages &messages, const LeftOut &leftOut) const {
  auto isLost = [&](const std::string &what, const std::string &key) {
    return io::Status::error(what + " has " + quoted(key) + ", which " + whole.source() +
                             " does not read, so that it would be lost; " + leftOut.remedy(key));
  };
  if (!messages.tools.is_null() && !messages.tools.empty() && !whole.readsVariable("tools"))
    return isLost("the line", "tools");
  if (messages.settings.is_object())
    for (const auto &[key, value] : messages.settings.items()) {
      for (const char *own : {"messages", "tools", "documents", "add_generation_prompt"})
        if (key == own)
          return io::Status::error("\"chat_template_kwargs\" has \"" + key +
                                   "\", which par gives the template itself; take it out");
      if (!whole.readsVariable(key))
        return isLost("\"chat_template_kwargs\"", key);
    }
  Written all, without;
  for (size_t i = 0; i < messages.list.size(); ++i)
    for (const auto &[key, value] : messages.list[i].items()) {
      if (key == "role" || key == "content" || value.is_null() || isName(key) ||
          reads(whole, messages.list[i], key, value))
        continue;
      // A template may write a message as a whole, whatever it has.
      Messages fewer = messages;
      fewer.list[i].erase(key);
      if (whole.write(messages, false, all).ok() && whole.write(fewer, false, without).ok() &&
          all.text == without.text)
        return isLost(nameOfMessage(i), key);
    }
  return {};
}

io::Status MessageFormat::check(const Messages &messages, const LeftOut &leftOut) const {
  return turns.empty() ? checkByTemplate(messages, leftOut) : checkByTurns(messages, leftOut);
}

static size_t spacesBehind(const std::string &text) { return text.size() - (text.find_last_not_of(' ') + 1); }

io::Status MessageFormat::askByTurns(const Messages &messages, std::string &text) const {
  TurnFormat::Frame frame;
  for (const Json &message : messages.list) {
    PAR_TRY(turns.frameOf(message["role"], frame));
    text += frame.before + message["content"].get_ref<const std::string &>() + frame.behind;
  }
  PAR_TRY(turns.frameOf("assistant", frame));
  text += frame.before.substr(0, frame.before.size() - spacesBehind(frame.before));
  return {};
}

io::Status MessageFormat::ask(const Messages &messages, std::string &text) const {
  text.clear();
  if (!turns.empty())
    return askByTurns(messages, text);
  Written written;
  io::Status status = whole.write(messages, /*asks=*/true, written);
  text = std::move(written.text);
  return status.ok() ? status : io::Status::error(status.message() + "; give --turn ROLE=TEMPLATE");
}

/// Templates say it of an example. They may change the ends of a content, but not those of this one.
AnswerFrame MessageFormat::frameByTemplate() const {
  const std::string answer = "par's answer";
  Messages messages;
  messages.list = Json::array({{{"role", "user"}, {"content", "x"}}});
  Written asking, answering;
  if (!whole.write(messages, /*asks=*/true, asking).ok())
    return {};
  messages.list.push_back({{"role", "assistant"}, {"content", answer}});
  if (!whole.write(messages, /*asks=*/false, answering).ok())
    return {};
  const std::string &asked = asking.text, &answered = answering.text;
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
