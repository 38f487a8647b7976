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
/// config.json of a folder. Of models that read pictures, too, the part about text gives what the whole
/// lacks.
io::Status readConfig(const std::string &folder, nlohmann::json &json);

/// "eos_token_id" of the file that was read from `path`: a number or a list of them; none where it is absent
/// or null. Anything else is an error.
io::Status endTokensOf(const std::string &path, const nlohmann::json &json, std::vector<int64_t> &ids);

/// Those of generation_config.json, which have to be below `vocabulary`, else of config.json, where families
/// have a default of another model; none where neither says.
io::Status findEndTokens(const std::string &folder, int64_t vocabulary, std::vector<int64_t> &ids);

/// The end-of-sequence token as tokenizer_config.json, else special_tokens_map.json, spells it, and the file
/// that does; empty where neither says.
io::Status findEndToken(const std::string &folder, std::string &token, std::string &file);

} // namespace par::text
#endif
