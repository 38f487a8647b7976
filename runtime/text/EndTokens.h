/// The tokens at which a model's texts end, as its folder says.
#ifndef PAR_TEXT_ENDTOKENS_H
#define PAR_TEXT_ENDTOKENS_H

#include "par/io/Status.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace par::text {

/// A file of a folder that may be absent; null then.
io::Status readModelJson(const std::string &path, nlohmann::json &json);

/// "eos_token_id": a number or a list of them; none where it is absent or something else.
std::vector<int64_t> endTokensOf(const nlohmann::json &json);

/// Those of generation_config.json, else of config.json; none where neither says.
io::Status findEndTokens(const std::string &folder, std::vector<int64_t> &ids);

/// The end-of-sequence token as tokenizer_config.json, else special_tokens_map.json, spells it, and the file
/// that does; empty where neither says.
io::Status findEndToken(const std::string &folder, std::string &token, std::string &file);

} // namespace par::text
#endif
