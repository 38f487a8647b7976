#include "chat/ConversationJson.h"

#include "chat/Messages.h"
#include "par/Limits.h"

#include <functional>
#include <optional>
#include <set>

namespace par::chat {

namespace {
/// Watches a text being read: its depth, and the names of the objects that are open.
class Watch {
public:
  bool operator()(int depth, Json::parse_event_t event, Json &value) {
    isDeep |= depth > limits::conversationLevels;
    if (event == Json::parse_event_t::object_start)
      names.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      names.pop_back();
    else if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return !isDeep;
  }

  bool isDeep = false;
  std::optional<std::string> twice; ///< a name that an object has twice

private:
  std::vector<std::set<std::string>> names;
};
} // namespace

io::Status readJson(std::string_view text, Json &json) {
  Watch watch;
  json = Json::parse(text, std::ref(watch), /*allow_exceptions=*/false);
  if (watch.isDeep)
    return io::Status::error("has more than " + std::to_string(limits::conversationLevels) +
                             " levels of nesting");
  if (watch.twice && !json.is_discarded())
    return io::Status::error("has " + chat::quoted(*watch.twice) +
                             " twice in one object, which leaves open what counts; take one out");
  return {};
}

/// "byte 5: unexpected end of input", of the library's many words.
static std::string causeOf(const Json::parse_error &error) {
  std::string words = error.what();
  size_t begin = words.find(" - "), end = words.find(';', begin);
  std::string cause = begin == std::string::npos ? words : words.substr(begin + 3, end - begin - 3);
  return "byte " + std::to_string(error.byte) + ": " + cause;
}

io::Status readJsonObject(std::string_view text, Json &json) {
  PAR_TRY(readJson(text, json));
  if (json.is_object())
    return {};
  if (!json.is_discarded())
    return io::Status::error("is no JSON object, but of the type " + std::string(json.type_name()));
  try {
    (void)Json::parse(text);
  } catch (const Json::parse_error &error) {
    return io::Status::error("is no JSON object: " + causeOf(error));
  } catch (const Json::out_of_range &) { // 1e999
    return io::Status::error("is no JSON object that par reads: a number of it is beyond what 64 bits hold");
  }
  return io::Status::error("is no JSON object");
}

} // namespace par::chat
