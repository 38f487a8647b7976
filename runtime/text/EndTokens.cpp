#include "text/EndTokens.h"

#include "par/io/Files.h"
#include "par/io/JsonText.h"

#include <algorithm>

namespace par::text {

using Json = nlohmann::json;

io::Status readModelJson(const std::string &path, Json &json) {
  json = nullptr;
  if (!io::isFile(path))
    return {};
  std::string content;
  PAR_TRY(io::readFile(path, content));
  PAR_TRY(io::checkDepth(path, content));
  json = Json::parse(content, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? io::Status() : io::Status::error(path + ": is no JSON object");
}

io::Status readConfig(const std::string &folder, Json &json) {
  PAR_TRY(readModelJson(folder + "/config.json", json));
  if (!json.is_object() || !json.contains("text_config") || !json["text_config"].is_object())
    return {};
  Json text = json["text_config"];
  text.update(json);
  json = std::move(text);
  return {};
}

static bool isId(const Json &id) { return id.is_number_unsigned() && id.get<uint64_t>() <= INT32_MAX; }

io::Status endTokensOf(const std::string &path, const Json &json, std::vector<int64_t> &ids) {
  ids.clear();
  if (!json.is_object() || !json.contains("eos_token_id") || json["eos_token_id"].is_null())
    return {};
  const Json &entry = json["eos_token_id"];
  Json list = entry.is_array() ? entry : Json::array({entry});
  if (list.empty() || !std::all_of(list.begin(), list.end(), isId))
    return io::Status::error(path + ": eos_token_id is " +
                             entry.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60) +
                             ", expected a token's number or a list of some; correct it there");
  ids = list.get<std::vector<int64_t>>();
  return {};
}

io::Status findEndTokens(const std::string &folder, int64_t vocabulary, std::vector<int64_t> &ids) {
  std::string path = folder + "/generation_config.json";
  Json json;
  PAR_TRY(readModelJson(path, json));
  PAR_TRY(endTokensOf(path, json, ids));
  for (int64_t id : ids)
    if (id >= vocabulary)
      return io::Status::error(path + ": eos_token_id has " + std::to_string(id) +
                               ", but the model's vocabulary has ids 0 to " + std::to_string(vocabulary - 1) +
                               "; correct it there");
  path = folder + "/config.json";
  PAR_TRY(readConfig(folder, json));
  return ids.empty() ? endTokensOf(path, json, ids) : io::Status();
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
