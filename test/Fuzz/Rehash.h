/// Files that hold their own hash: without the right one a reader goes no further.
#ifndef PAR_TEST_REHASH_H
#define PAR_TEST_REHASH_H

#include "par/io/Sha256.h"

#include <nlohmann/json.hpp>

namespace par::fuzz {

/// The text with the right hash under "sha256", where it is JSON that has one.
inline std::string rehash(const std::string &text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("sha256"))
    return text;
  json["sha256"] = std::string(64, '0');
  std::string result = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string hash = io::sha256(result);
  size_t at = result.find("\"" + std::string(64, '0') + "\"");
  return result.replace(at + 1, 64, hash);
}

} // namespace par::fuzz
#endif
