#include "data/ForeignLines.h"

namespace par::data {

using chat::Json;

static bool hasText(const Json &json, const char *key) {
  return json.contains(key) && json[key].is_string() && !json[key].get_ref<const std::string &>().empty();
}

/// A key that may be absent, null or a text.
static io::Status checkText(const Json &json, const char *key) {
  bool isText = !json.contains(key) || json[key].is_null() || json[key].is_string();
  return isText ? io::Status() : io::Status::error("has \"" + std::string(key) + "\" that is no text");
}

/// The roles of who says something in ShareGPT's lines; null: nobody whom par knows.
static const char *roleOf(const std::string &from) {
  static constexpr const char *known[][2] = {
      {"human", "user"},          {"user", "user"},       {"gpt", "assistant"}, {"chatgpt", "assistant"},
      {"assistant", "assistant"}, {"model", "assistant"}, {"bot", "assistant"}, {"bard", "assistant"},
      {"bing", "assistant"},      {"system", "system"},   {"tool", "tool"},     {"observation", "tool"}};
  for (const auto &[name, role] : known)
    if (from == name)
      return role;
  return nullptr;
}

static io::Status fromTurn(const Json &turn, Json &message) {
  if (!turn.is_object())
    return io::Status::error("is no object");
  if (!turn.contains("from") || !turn["from"].is_string() || !turn.contains("value") ||
      !turn["value"].is_string())
    return io::Status::error("has no strings \"from\" and \"value\"");
  std::string from = turn["from"];
  const char *role = roleOf(from);
  if (!role)
    return io::Status::error("is from " + chat::quoted(from) +
                             ", of which par does not know the role; expected human, gpt, system or tool");
  message = {{"role", role}, {"content", turn["value"]}};
  for (const auto &[key, value] : turn.items()) {
    if ((key == "role" || key == "content") && !value.is_null())
      return io::Status::error("has " + chat::quoted(key) + " beside \"from\" and \"value\"; leave it out");
    if (key != "from" && key != "value" && !message.contains(key))
      message[key] = value;
  }
  return {};
}

io::Status fromShareGpt(const Json &line, chat::LeftOut &leftOut, Json &messages) {
  if (!line.contains("conversations") || !line["conversations"].is_array())
    return io::Status::error("has no list \"conversations\", as --lines sharegpt says");
  PAR_TRY(chat::onlyKeys(line, {"conversations", "system", "tools", "chat_template_kwargs"}, leftOut));
  PAR_TRY(checkText(line, "system"));
  Json list = Json::array();
  if (hasText(line, "system"))
    list.push_back({{"role", "system"}, {"content", line["system"]}});
  size_t number = 0;
  for (const Json &turn : line["conversations"]) {
    Json message;
    if (io::Status status = fromTurn(turn, message); !status.ok())
      return io::Status::error(chat::nameOfMessage(number) + " " + status.message());
    if (message["role"] == "system" && hasText(line, "system"))
      return io::Status::error("has \"system\", and " + chat::nameOfMessage(number) +
                               " is from system, too; leave one of them out");
    list.push_back(std::move(message));
    ++number;
  }
  messages = Json::object();
  messages["messages"] = std::move(list);
  for (const char *key : {"tools", "chat_template_kwargs"})
    if (line.contains(key))
      messages[key] = line[key];
  return {};
}

io::Status fromAlpaca(const Json &line, chat::LeftOut &leftOut, Json &messages) {
  if (!line.contains("instruction") || !line["instruction"].is_string() || !line.contains("output") ||
      !line["output"].is_string())
    return io::Status::error("has no strings \"instruction\" and \"output\", as --lines alpaca says");
  PAR_TRY(chat::onlyKeys(line, {"instruction", "input", "output", "system"}, leftOut));
  PAR_TRY(checkText(line, "input"));
  PAR_TRY(checkText(line, "system"));
  std::string question = line["instruction"];
  if (hasText(line, "input"))
    question += "\n\n" + line["input"].get<std::string>();
  Json list = Json::array();
  if (hasText(line, "system"))
    list.push_back({{"role", "system"}, {"content", line["system"]}});
  list.push_back({{"role", "user"}, {"content", question}});
  list.push_back({{"role", "assistant"}, {"content", line["output"]}});
  messages = Json::object();
  messages["messages"] = std::move(list);
  return {};
}

} // namespace par::data
