#include "data/Conversations.h"

#include <nlohmann/json.hpp>

namespace par::data {

using Json = nlohmann::json;

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

static io::Status readMessages(const ChatFormat &format, const Json &messages, Conversation &conversation) {
  if (!messages.is_array())
    return io::Status::error("\"messages\" is no list");
  for (const Json &message : messages) {
    if (!hasText(message, "role") || !hasText(message, "content"))
      return io::Status::error("a message has no strings \"role\" and \"content\"");
    PAR_TRY(format.append(message["role"], message["content"], conversation));
  }
  return {};
}

io::Status readConversation(const ChatFormat &format, std::string_view line, Conversation &conversation) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return io::Status::error("is no JSON object");
  if (json.contains("messages")) {
    if (format.empty())
      return io::Status::error("has \"messages\", but the tokenizer has the special tokens of no chat format "
                               "that is known; give --turn ROLE=TEMPLATE");
    return readMessages(format, json["messages"], conversation);
  }
  if (!hasText(json, "prompt") || !hasText(json, "completion"))
    return io::Status::error("has neither \"messages\" nor strings \"prompt\" and \"completion\"");
  std::string prompt = json["prompt"], completion = json["completion"];
  conversation.text = prompt + completion;
  conversation.answers.push_back({prompt.size(), conversation.text.size()});
  return {};
}

} // namespace par::data
