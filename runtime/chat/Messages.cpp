#include "chat/Messages.h"

#include <algorithm>
#include <cctype>

namespace par::chat {

std::string nameOfMessage(size_t number) { return "message " + std::to_string(number + 1); }

std::string quoted(const std::string &text) {
  constexpr size_t most = 80;
  std::string cut = text.size() > most ? text.substr(0, most) + "..." : text;
  return Json(cut).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool has(const Json &object, const char *key) { return object.contains(key) && !object[key].is_null(); }

/// Whether one of the words of a key is about training: such a key is no note.
static bool isAboutTraining(const std::string &key) {
  std::string word;
  auto isOne = [&] {
    for (const char *one :
         {"weight", "train", "trainable", "trained", "loss", "mask", "masked", "target", "label", "labels"})
      if (word == one)
        return true;
    return false;
  };
  for (char letter : key) {
    if (std::isalpha(static_cast<unsigned char>(letter)))
      word += char(std::tolower(static_cast<unsigned char>(letter)));
    else if (isOne())
      return true;
    else
      word.clear();
  }
  return isOne();
}

bool LeftOut::has(const std::string &key) {
  if (keys.count(key))
    return true;
  bool isNote = (key.rfind('_', 0) == 0 || key.find('.') != std::string::npos) && !isAboutTraining(key);
  if (isNote)
    notes.insert(key);
  return isNote;
}

std::string LeftOut::remedy(const std::string &key) const {
  bool isPlain = !key.empty() && key.size() <= 40 && std::all_of(key.begin(), key.end(), [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '-';
  });
  return byFlag ? "take it out, or leave it out by --ignore-key " + (isPlain ? key : quoted(key))
                : "take it out";
}

io::Status onlyKeys(const Json &object, std::initializer_list<const char *> known, LeftOut &leftOut) {
  for (const auto &[key, value] : object.items()) {
    bool isKnown = value.is_null();
    for (const char *one : known)
      isKnown |= key == one;
    if (!isKnown && !leftOut.has(key))
      return io::Status::error("has the key " + quoted(key) + ", which par does not know; " +
                               leftOut.remedy(key));
  }
  return {};
}

bool Messages::isTarget(size_t number) const {
  return trained[number].value_or(roleOf(number) == "assistant");
}

Messages Messages::first(size_t count) const {
  Messages part;
  part.tools = tools, part.settings = settings;
  for (size_t i = 0; i < count; ++i)
    part.list.push_back(list[i]), part.trained.push_back(trained[i]);
  return part;
}

namespace {
/// A key that says whether a message is trained.
struct TrainingKey {
  const char *name;
  bool isTrue; ///< true, or 1, says that it is
  bool isFlag; ///< true and false are among its values
};
} // namespace

static constexpr TrainingKey trainingKeys[] = {{"weight", true, false},
                                               {"train", true, true},
                                               {"trainable", true, true},
                                               {"loss_mask", true, true},
                                               {"masked", false, true}};

static io::Status readTrainingKey(const TrainingKey &key, const Json &value, bool &trained) {
  bool isNumber = value.is_number() && (value == 0 || value == 1);
  if (!isNumber && !(key.isFlag && value.is_boolean()))
    return io::Status::error("has " + quoted(key.name) + ": " +
                             value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40) +
                             ", expected " + (key.isFlag ? "true or false" : "0 or 1") +
                             ": par trains a message or does not");
  trained = (isNumber ? value == 1 : value.get<bool>()) == key.isTrue;
  return {};
}

/// Takes the keys about training out of a message.
static io::Status readTraining(Json &message, const LeftOut &leftOut, std::optional<bool> &trained) {
  const char *first = nullptr;
  for (const TrainingKey &key : trainingKeys) {
    auto found = message.find(key.name);
    if (found == message.end())
      continue;
    Json value = *found;
    message.erase(key.name);
    bool says;
    if (value.is_null() || leftOut.keys.count(key.name))
      continue;
    PAR_TRY(readTrainingKey(key, value, says));
    if (trained && *trained != says)
      return io::Status::error(
          "has " + quoted(first) + " and " + quoted(key.name) +
          ", of which one says that it is trained and one that it is not; leave one out");
    trained = says, first = key.name;
  }
  return {};
}

static io::Status checkParts(const Json &parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string place = "has a \"content\" whose part " + std::to_string(i + 1);
    const Json &part = parts[i];
    if (part.is_string())
      continue;
    if (!part.is_object())
      return io::Status::error(place + " is neither an object nor a text");
    Json type = part.contains("type") ? part["type"] : Json("text");
    if (type != "text")
      return io::Status::error(place + " is of the type " +
                               type.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40) +
                               ", but par reads texts alone; leave the line out");
    if (!part.contains("text") || !part["text"].is_string())
      return io::Status::error(place + " has no string \"text\"");
  }
  return {};
}

static io::Status checkContent(const Json &message) {
  bool saysOther = false;
  for (const char *key : {"tool_calls", "function_call", "reasoning_content", "reasoning", "thinking"})
    saysOther |= has(message, key);
  if (!has(message, "content"))
    return saysOther
               ? io::Status()
               : io::Status::error(message.contains("content")
                                       ? "has null as \"content\" and no \"tool_calls\" or the like: it "
                                         "says nothing; leave it out"
                                       : "has no \"content\"");
  const Json &content = message["content"];
  if (content.is_array())
    return checkParts(content);
  return content.is_string()
             ? io::Status()
             : io::Status::error("has a \"content\" that is a JSON " + std::string(content.type_name()) +
                                 ", expected a text, a list of texts, or null");
}

static io::Status readMessage(const Json &given, LeftOut &leftOut, Messages &messages) {
  if (!given.is_object())
    return io::Status::error("is no object");
  Json message = given;
  std::optional<bool> trained;
  PAR_TRY(readTraining(message, leftOut, trained));
  for (const auto &[key, value] : given.items())
    if (key != "role" && key != "content" && leftOut.has(key))
      message.erase(key);
  if (!has(message, "role") || !message["role"].is_string())
    return io::Status::error("has no string \"role\"");
  PAR_TRY(checkContent(message));
  if (has(message, "tool_calls") && !message["tool_calls"].is_array())
    return io::Status::error("has \"tool_calls\" that are no list");
  for (const auto &[key, value] : given.items())
    if (value.is_null()) // Transformers gives templates no such keys
      message.erase(key);
  messages.list.push_back(std::move(message));
  messages.trained.push_back(trained);
  return {};
}

io::Status readMessages(const Json &line, LeftOut &leftOut, Messages &messages) {
  messages = {};
  if (line.contains("tools") && !leftOut.keys.count("tools"))
    messages.tools = line["tools"];
  if (line.contains("chat_template_kwargs") && !leftOut.keys.count("chat_template_kwargs"))
    messages.settings = line["chat_template_kwargs"];
  if (!messages.tools.is_null() && !messages.tools.is_array())
    return io::Status::error("has \"tools\" that are no list");
  if (!messages.settings.is_null() && !messages.settings.is_object())
    return io::Status::error("has \"chat_template_kwargs\" that are no object");
  if (!line["messages"].is_array())
    return io::Status::error("\"messages\" is no list");
  const Json &list = line["messages"];
  for (size_t i = 0; i < list.size(); ++i)
    if (io::Status status = readMessage(list[i], leftOut, messages); !status.ok())
      return io::Status::error(nameOfMessage(i) + " " + status.message());
  return {};
}

} // namespace par::chat
