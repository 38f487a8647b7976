#include "text/EndTokens.h"

#include "par/io/Files.h"

namespace par::text {

using Json = nlohmann::json;

io::Status readModelJson(const std::string &path, Json &json) {
  json = nullptr;
  if (!io::isFile(path))
    return {};
  std::string content;
  PAR_TRY(io::readFile(path, content));
  json = Json::parse(content, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? io::Status() : io::Status::error(path + ": is no JSON object");
}

std::vector<int64_t> endTokensOf(const Json &json) {
  std::vector<int64_t> ids;
  if (!json.is_object() || !json.contains("eos_token_id"))
    return ids;
  const Json &entry = json["eos_token_id"];
  for (const Json &id : entry.is_array() ? entry : Json::array({entry}))
    if (id.is_number_unsigned())
      ids.push_back(id.get<int64_t>());
  return ids;
}

io::Status findEndTokens(const std::string &folder, std::vector<int64_t> &ids) {
  ids.clear();
  for (const char *name : {"generation_config.json", "config.json"}) {
    Json json;
    PAR_TRY(readModelJson(folder + "/" + name, json));
    if (ids.empty())
      ids = endTokensOf(json);
  }
  return {};
}

/// "eos_token": a string, or an object with its content.
static std::string endTokenOf(const Json &json) {
  if (!json.is_object() || !json.contains("eos_token"))
    return "";
  const Json &token = json["eos_token"];
  if (token.is_object() && token.contains("content") && token["content"].is_string())
    return token["content"].get<std::string>();
  return token.is_string() ? token.get<std::string>() : "";
}

io::Status findEndToken(const std::string &folder, std::string &token, std::string &file) {
  token.clear();
  for (const char *name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (!token.empty())
      break;
    Json json;
    file = folder + "/" + name;
    PAR_TRY(readModelJson(file, json));
    token = endTokenOf(json);
  }
  return {};
}

} // namespace par::text
