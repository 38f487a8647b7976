#include "chat/ConversationJson.h"

namespace par::chat {

constexpr int mostLevels = 200;

io::Status readJson(std::string_view text, Json &json) {
  bool isDeep = false;
  auto visit = [&](int depth, Json::parse_event_t, Json &) {
    isDeep |= depth > mostLevels;
    return !isDeep;
  };
  json = Json::parse(text, visit, /*allow_exceptions=*/false);
  return isDeep ? io::Status::error("has more than " + std::to_string(mostLevels) + " levels of nesting")
                : io::Status();
}

} // namespace par::chat
