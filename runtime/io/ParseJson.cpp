#include "ParseJson.h"

namespace par::io {

nlohmann::json parseJson(std::string_view text, std::string &twice) {
  using Json = nlohmann::json;
  NameWatch<Json> names;
  auto watch = [&](int, Json::parse_event_t event, Json &value) {
    names.see(event, value);
    return true;
  };
  Json json = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  twice = names.twice.value_or(twice);
  return json;
}

} // namespace par::io
