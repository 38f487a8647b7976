#include "ParseJson.h"

#include <set>
#include <vector>

namespace par::io {

nlohmann::json parseJson(std::string_view text, std::string &twice) {
  using Json = nlohmann::json;
  std::vector<std::set<std::string>> names;
  auto watch = [&](int, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      names.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      names.pop_back();
    else if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  return Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
}

} // namespace par::io
