#include "par/io/TokenDescription.h"

#include "io/JsonNode.h"
#include "io/ParseJson.h"
#include "par/io/Files.h"
#include "par/io/JsonText.h"

#include <algorithm>
#include <cstring>

namespace par::io {

static constexpr char writer[] = "par-data";
static constexpr int64_t formatVersion = 1;
/// This word stands in every description, without blanks.
static constexpr char ownMark[] = "\"written_by\":\"par-data\"";

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

/// A description that contradicts itself was changed by somebody.
static void checkValues(const TokenDescription &about, const JsonNode &root) {
  auto atMost = [&](const char *name, int64_t value, const char *other, int64_t most) {
    if (value > most)
      root[name].fail("is " + std::to_string(value) + ", but " + other + " is " + std::to_string(most));
  };
  atMost("targets", about.targets, "tokens", about.tokens);
  atMost("tokens", about.tokens, "bytes", about.bytes);
  if (about.tokens == 0)
    return;
  atMost("end_token", about.endToken, "largest_id", about.largest);
  if (about.largest >= about.vocabulary)
    root["largest_id"].fail("is " + std::to_string(about.largest) + ", but vocabulary is " +
                            std::to_string(about.vocabulary));
  if (about.type == "uint16" && about.largest > 0xFFFF)
    root["largest_id"].fail("is " + std::to_string(about.largest) + ", but type is uint16");
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
  checkValues(description, root);
  return description;
}

namespace {
/// The file that stands where a description is looked for.
struct Found {
  bool isOwn = false; ///< whether par-data wrote it, readable or not
  std::string damage; ///< what is wrong with one of its own, if anything is
  JsonNode::Json json;
};
} // namespace

/// Without blanks and what editors add to a text: a mark of its encoding, bytes that are 0.
static std::string lettersOf(std::string_view text) {
  std::string letters;
  for (char letter : text)
    if (static_cast<unsigned char>(letter) > ' ' && !std::strchr("\xEF\xBB\xBF\xFF\xFE", letter))
      letters += letter;
  return letters;
}

/// Whether a text begins as par-data's do, or breaks off before it could.
static bool beginsAsOwn(std::string_view begin) {
  std::string own = std::string("{") + ownMark, letters = lettersOf(begin);
  return letters.substr(0, own.size()) == own.substr(0, letters.size());
}

/// A description may be long, as conversations may have any number of roles; other files need not be read.
static Status readOwn(const std::string &path, Found &found) {
  constexpr size_t beginBytes = 256;
  constexpr int64_t othersAtMost = 1 << 20;
  if (fileSize(path) < 0)
    return {};
  MappedFile file;
  PAR_TRY(file.open(path));
  std::string_view content(reinterpret_cast<const char *>(file.data()), file.size());
  bool begins = beginsAsOwn(content.substr(0, beginBytes));
  if (!begins && int64_t(content.size()) > othersAtMost)
    return {};
  std::string twice;
  bool isFlat = checkDepth(path, content).ok(); // par-data writes no other
  found.json = isFlat ? parseJson(content, twice) : JsonNode::Json(JsonNode::Json::value_t::discarded);
  if (found.json.is_discarded()) {
    found.isOwn = begins || lettersOf(content).find(ownMark) != std::string::npos;
    found.damage = "it is no JSON";
    return {};
  }
  found.isOwn = found.json.is_object() && found.json.value("written_by", JsonNode::Json()) == writer;
  found.damage = twice.empty() ? "" : "it has \"" + twice + "\" twice";
  return {};
}

Status readDescription(const std::string &tokens, std::optional<TokenDescription> &about) {
  about.reset();
  std::string path = descriptionFile(tokens);
  Found found;
  PAR_TRY(readOwn(path, found));
  if (!found.isOwn)
    return {};
  try {
    if (found.damage.empty())
      about = parse(JsonNode(found.json, ""));
  } catch (const JsonError &error) {
    found.damage = error.what();
  }
  return found.damage.empty() ? Status()
                              : Status::error(path + ": is damaged (" + found.damage +
                                              "); write the tokens again with par-data, or remove it: then "
                                              "the type is guessed");
}

Status checkDescribable(const std::string &tokens) {
  std::string path = descriptionFile(tokens);
  if (isFolder(path))
    return Status::error(path + ": is a folder, and the description of " + tokens +
                         " would have this name; move it away or give -o another name");
  if (fileSize(path) < 0)
    return {};
  Found found;
  PAR_TRY(readOwn(path, found));
  return found.isOwn ? Status()
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
