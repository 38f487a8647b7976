#include "data/Conversations.h"

#include <nlohmann/json.hpp>

namespace par::data {

using chat::Json;

static constexpr char contentMark[] = "{content}", roleMark[] = "{role}";

std::string ChatFormat::add(const std::string &turn) {
  size_t sign = turn.find('=');
  if (sign == std::string::npos || sign == 0)
    return "is '" + turn + "', expected ROLE=TEMPLATE";
  std::string role = turn.substr(0, sign), text = turn.substr(sign + 1);
  size_t content = text.find(contentMark);
  if (content == std::string::npos || text.find(contentMark, content + 1) != std::string::npos)
    return "has a template that does not say {content} once: " + turn;
  if (!templates.emplace(role, text).second)
    return "gives the role " + role + " twice";
  return "";
}

ChatFormat ChatFormat::of(const text::Tokenizer &tokenizer) {
  ChatFormat format;
  auto has = [&](const char *token) { return tokenizer.find(token) >= 0; };
  if (has("<|im_start|>") && has("<|im_end|>"))
    format.add("*=<|im_start|>{role}\n{content}<|im_end|>\n");
  else if (has("<|start_header_id|>") && has("<|end_header_id|>") && has("<|eot_id|>"))
    format.add("*=<|start_header_id|>{role}<|end_header_id|>\n\n{content}<|eot_id|>");
  return format;
}

io::Status ChatFormat::append(const std::string &role, const std::string &content,
                              Conversation &conversation) const {
  auto found = templates.find(role);
  if (found == templates.end())
    found = templates.find("*");
  if (found == templates.end())
    return io::Status::error("no --turn says how the role \"" + role + "\" is written");
  std::string before = found->second.substr(0, found->second.find(contentMark)),
              behind = found->second.substr(before.size() + sizeof(contentMark) - 1);
  for (std::string *part : {&before, &behind})
    for (size_t at = 0; (at = part->find(roleMark, at)) != std::string::npos; at += role.size())
      part->replace(at, sizeof(roleMark) - 1, role);
  size_t begin = conversation.text.size() + before.size();
  conversation.text += before + content + behind;
  if (role == "assistant")
    conversation.answers.push_back({begin, conversation.text.size()});
  return {};
}

static bool hasText(const Json &json, const char *key) {
  return json.is_object() && json.contains(key) && json[key].is_string();
}

io::Status MessageFormat::open(const ChatFormat &given, const std::string &folder,
                               const text::Tokenizer &tokenizer) {
  turns = given;
  source = "--turn says";
  if (!turns.empty())
    return {};
  PAR_TRY(whole.open(folder));
  source = whole.source() + " says";
  if (whole.exists())
    return {};
  turns = ChatFormat::of(tokenizer);
  source = "the tokenizer's special tokens suggest; the model's folder has no chat template";
  return {};
}

static io::Status checkMessages(const Json &messages) {
  if (!messages.is_array())
    return io::Status::error("\"messages\" is no list");
  for (const Json &message : messages)
    if (!hasText(message, "role") || !hasText(message, "content"))
      return io::Status::error("a message has no strings \"role\" and \"content\"");
  return {};
}

/// What turns cannot say is not left out.
static io::Status writeByTurns(const ChatFormat &turns, const Json &messages, const Json &tools,
                               Conversation &conversation) {
  if (!tools.is_null())
    return io::Status::error("has \"tools\", which no --turn can write; take them out");
  for (const Json &message : messages) {
    if (message.contains("tool_calls"))
      return io::Status::error("a message has \"tool_calls\", which no --turn can write; take them out");
    PAR_TRY(turns.append(message["role"], message["content"], conversation));
  }
  return {};
}

static io::Status readMessages(const MessageFormat &format, const Json &line, Conversation &conversation) {
  const Json &messages = line["messages"];
  Json tools = line.contains("tools") ? line["tools"] : Json();
  conversation.hasMessages = true;
  if (format.turns.empty() && !format.whole.exists())
    return io::Status::error(
        "has \"messages\", but the model's folder has no chat template, and the tokenizer "
        "the special tokens of no chat format that is known; give --turn ROLE=TEMPLATE");
  PAR_TRY(checkMessages(messages));
  if (!format.turns.empty())
    return writeByTurns(format.turns, messages, tools, conversation);
  io::Status status = writeByTemplate(format.whole, messages, tools, conversation);
  return status.ok() ? status : io::Status::error(status.message() + "; give --turn ROLE=TEMPLATE");
}

io::Status readConversation(const MessageFormat &format, std::string_view line, Conversation &conversation) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return io::Status::error("is no JSON object");
  if (json.contains("messages"))
    return readMessages(format, json, conversation);
  if (!hasText(json, "prompt") || !hasText(json, "completion"))
    return io::Status::error("has neither \"messages\" nor strings \"prompt\" and \"completion\"");
  std::string prompt = json["prompt"], completion = json["completion"];
  conversation.text = prompt + completion;
  conversation.answers.push_back({prompt.size(), conversation.text.size()});
  return {};
}

} // namespace par::data
