#include "chat/ConversationJson.h"

#include "par/Limits.h"

namespace par::chat {

io::Status readJson(std::string_view text, Json &json) {
  bool isDeep = false;
  auto visit = [&](int depth, Json::parse_event_t, Json &) {
    isDeep |= depth > limits::conversationLevels;
    return !isDeep;
  };
  json = Json::parse(text, visit, /*allow_exceptions=*/false);
  return isDeep ? io::Status::error("has more than " + std::to_string(limits::conversationLevels) +
                                    " levels of nesting")
                : io::Status();
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
  }
  return io::Status::error("is no JSON object");
}

} // namespace par::chat
