#include "chat/ConversationJson.h"

#include "chat/Messages.h"
#include "io/ParseJson.h"
#include "par/Limits.h"

namespace par::chat {

io::Status readJson(std::string_view text, Json &json) {
  bool isDeep = false;
  io::NameWatch<Json> names;
  auto watch = [&](int depth, Json::parse_event_t event, Json &value) {
    isDeep |= depth > limits::conversationLevels;
    names.see(event, value);
    return !isDeep;
  };
  json = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (isDeep)
    return io::Status::error("has more than " + std::to_string(limits::conversationLevels) +
                             " levels of nesting");
  if (names.twice && !json.is_discarded())
    return io::Status::error("has " + chat::quoted(*names.twice) +
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
