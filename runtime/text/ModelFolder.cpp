#include "text/ModelFolder.h"

#include "par/io/Files.h"
#include "text/EndTokens.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace par::text {

using Json = nlohmann::json;

io::Status ModelFolder::open(const std::string &path) {
  bool isFolder = io::isFolder(path);
  size_t slash = path.rfind('/');
  folder = isFolder ? path : slash == std::string::npos ? "." : path.substr(0, slash + 1);
  file = isFolder ? path + "/tokenizer.json" : path;
  if (isFolder && !io::isFile(file))
    return io::Status::error(path +
                             ": has no tokenizer.json; save the tokenizer in Hugging Face's fast format");
  PAR_TRY(tokenizer.open(file));
  vocabulary = tokenizer.size();
  Json config;
  PAR_TRY(readConfig(folder, config));
  if (config.is_object() && config.contains("vocab_size") && config["vocab_size"].is_number_unsigned())
    vocabulary = uint32_t(
        std::max<uint64_t>(vocabulary, std::min<uint64_t>(config["vocab_size"].get<uint64_t>(), UINT32_MAX)));
  return {};
}

io::Status ModelFolder::findEos(const std::string &wanted, uint32_t &id) const {
  std::string token = wanted, source = "--eos";
  if (token.empty())
    PAR_TRY(findEndToken(folder, token, source));
  if (!token.empty()) {
    int64_t found = tokenizer.find(token);
    if (found < 0)
      return io::Status::error(source + ": the end-of-sequence token \"" + token + "\" is no token of " +
                               file);
    id = uint32_t(found);
    return {};
  }
  Json json;
  PAR_TRY(readConfig(folder, json));
  std::vector<int64_t> ids;
  PAR_TRY(endTokensOf(folder + "/config.json", json, ids));
  if (ids.empty())
    return io::Status::error(
        folder +
        ": no tokenizer_config.json, special_tokens_map.json or config.json names an end-of-sequence "
        "token for --append-eos; give --eos TOKEN");
  int64_t number = ids.front();
  if (number >= int64_t(tokenizer.size()))
    return io::Status::error(folder + "/config.json: eos_token_id is " + std::to_string(number) + ", but " +
                             file + " has " + std::to_string(tokenizer.size()) + " ids; give --eos TOKEN");
  id = uint32_t(number);
  return {};
}

} // namespace par::text
