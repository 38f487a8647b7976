#include "par/io/TokenDescription.h"

#include "io/JsonNode.h"
#include "par/io/Files.h"
#include "par/io/JsonText.h"

#include <algorithm>

namespace par::io {

static constexpr char writer[] = "par-data";
static constexpr int64_t formatVersion = 1;

std::string descriptionFile(const std::string &tokens) { return tokens + ".json"; }

std::string toJson(const TokenDescription &description) {
  nlohmann::ordered_json json = {{"written_by", writer},
                                 {"version", formatVersion},
                                 {"type", description.type},
                                 {"bytes", description.bytes},
                                 {"sha256_of_ends", description.ends},
                                 {"tokens", description.tokens},
                                 {"targets", description.targets},
                                 {"vocabulary", description.vocabulary},
                                 {"largest_id", description.largest},
                                 {"tokenizer", description.tokenizer},
                                 {"end_token", nullptr}};
  if (description.endToken >= 0)
    json["end_token"] = description.endToken;
  if (!description.roles.empty())
    json["roles"] = description.roles;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

static TokenDescription parse(const JsonNode &root) {
  if (int64_t version = root["version"].integer(); version != formatVersion)
    root["version"].fail("is " + std::to_string(version) + ", this par reads " +
                         std::to_string(formatVersion));
  TokenDescription description;
  description.type = root["type"].text();
  description.bytes = root["bytes"].integer();
  description.ends = root["sha256_of_ends"].text();
  description.tokens = root["tokens"].integer();
  description.targets = root["targets"].integer();
  description.vocabulary = root["vocabulary"].integer();
  description.largest = root["largest_id"].integer();
  description.tokenizer = root["tokenizer"].text();
  if (root.has("end_token"))
    description.endToken = root["end_token"].integer();
  if (root.has("roles"))
    for (const auto &[role, count] : root["roles"].byName())
      description.roles[role] = count.integer();
  return description;
}

/// Whether a file's content is a description, readable or not: a damaged one still names its writer.
static bool isDescription(const std::string &content, const JsonNode::Json &json) {
  if (json.is_object())
    return json.value("written_by", JsonNode::Json()) == writer;
  return json.is_discarded() && content.find("\"written_by\": \"" + std::string(writer)) != std::string::npos;
}

static Status readOwn(const std::string &path, JsonNode::Json &json, bool &isOwn) {
  isOwn = false;
  constexpr int64_t longest = 1 << 20;
  if (int64_t size = fileSize(path); size < 0 || size > longest)
    return {};
  std::string content;
  PAR_TRY(readFile(path, content));
  if (!checkDepth(path, content).ok()) // par-data writes no such file
    return {};
  json = JsonNode::Json::parse(content, nullptr, /*allow_exceptions=*/false);
  isOwn = isDescription(content, json);
  return {};
}

Status readDescription(const std::string &tokens, std::optional<TokenDescription> &found) {
  found.reset();
  std::string path = descriptionFile(tokens);
  JsonNode::Json json;
  bool isOwn;
  PAR_TRY(readOwn(path, json, isOwn));
  if (!isOwn)
    return {};
  try {
    found = parse(JsonNode(json, ""));
  } catch (const JsonError &error) {
    return Status::error(path + ": is damaged (" + error.what() + "); write the tokens again with par-data");
  }
  return {};
}

Status checkDescribable(const std::string &tokens) {
  std::string path = descriptionFile(tokens);
  if (isFolder(path))
    return Status::error(path + ": is a folder, and the description of " + tokens +
                         " would have this name; move it away or give -o another name");
  if (fileSize(path) < 0)
    return {};
  JsonNode::Json json;
  bool isOwn;
  PAR_TRY(readOwn(path, json, isOwn));
  return isOwn ? Status()
               : Status::error(path + ": is no description that par-data wrote, and that of " + tokens +
                               " would replace it; move it away or give -o another name");
}

void EndsHash::add(std::string_view bytes) {
  if (head.size() < length)
    head += bytes.substr(0, length - head.size());
  tail += bytes.size() > length ? bytes.substr(bytes.size() - length) : bytes;
  if (tail.size() > 2 * length)
    tail.erase(0, tail.size() - length);
}

std::string EndsHash::finish() const {
  Sha256 hash;
  hash.update(head.data(), head.size());
  size_t last = std::min(tail.size(), length);
  hash.update(tail.data() + tail.size() - last, last);
  return hash.finish();
}

std::string EndsHash::of(std::string_view whole) {
  EndsHash hash;
  hash.add(whole.substr(0, length));
  hash.tail = whole.size() > length ? whole.substr(whole.size() - length) : whole;
  return hash.finish();
}

Status hashTokenizer(const std::string &path, std::string &hash) {
  std::string content;
  PAR_TRY(readFile(path, content));
  PAR_TRY(checkDepth(path, content));
  auto json = JsonNode::Json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return Status::error(path + ": is no JSON object; give a tokenizer.json");
  std::map<std::string, int64_t> ids;
  try {
    JsonNode root(json, path);
    for (const auto &[token, id] : root["model"]["vocab"].value().items())
      if (id.is_number_integer())
        ids[token] = id.get<int64_t>();
    if (root.has("added_tokens"))
      for (const JsonNode &token : root["added_tokens"].items())
        ids[token["content"].text()] = token["id"].integer();
  } catch (const JsonError &error) {
    return Status::error(error.what());
  }
  Sha256 all;
  for (const auto &[token, id] : ids) {
    std::string line = std::to_string(id) + " " + std::to_string(token.size()) + " " + token + "\n";
    all.update(line.data(), line.size());
  }
  hash = all.finish();
  return {};
}

} // namespace par::io
