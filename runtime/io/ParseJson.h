/// JSON whose objects name nothing twice: which of two values counts would depend on the reader.
#ifndef PAR_IO_PARSEJSON_H
#define PAR_IO_PARSEJSON_H

#include <nlohmann/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace par::io {

/// The names of a text's open objects, for a callback of the library: it keeps one that an object has twice.
template <typename Json>
class NameWatch {
public:
  void see(typename Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      names.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      names.pop_back();
    else if (event == Json::parse_event_t::key &&
             !names.back().insert(value.template get<std::string>()).second)
      twice = value.template get<std::string>();
  }

  std::optional<std::string> twice;

private:
  std::vector<std::set<std::string>> names;
};

/// The text as JSON, discarded where it is none. `twice` becomes a name that an object has twice, if there is
/// one.
nlohmann::json parseJson(std::string_view text, std::string &twice);

} // namespace par::io
#endif
