#include "generate/Questions.h"

#include "chat/ConversationJson.h"
#include "core/Error.h"
#include "par/io/Files.h"
#include "text/Utf8.h"

#include <iostream>
#include <iterator>
#include <unistd.h>

namespace par::generating {

using chat::Json;
using rt::Error;

Questions::Questions(const GenerateOptions &options)
    : fromLines(!options.isText && options.messages.empty()), isTerminal(isatty(0) && isatty(2)),
      file(options.messages) {
  if (!options.system.empty())
    add("system", options.system);
  if (options.isText)
    add("user", options.prompt);
  if (!file.empty())
    readFile(file);
}

void Questions::add(const char *role, const std::string &content) {
  conversation.list.push_back({{"role", role}, {"content", content}});
  conversation.trained.emplace_back();
}

void Questions::readFile(const std::string &path) {
  std::string content;
  if (path == "-")
    content.assign(std::istreambuf_iterator<char>(std::cin), {});
  else
    rt::check(io::readFile(path, content));
  Json json;
  if (io::Status status = chat::readJson(content, json); !status.ok())
    throw Error(path + ": " + status.message());
  if (json.is_array())
    json = {{"messages", std::move(json)}};
  if (!json.is_object() || !json.contains("messages") || !json["messages"].is_array() ||
      json["messages"].empty())
    throw Error(path + ": is no JSON of messages, expected [{\"role\": \"user\", \"content\": …}, …] or an "
                       "object with them as \"messages\"");
  chat::LeftOut leftOut;
  io::Status status = chat::onlyKeys(json, {"messages", "tools", "chat_template_kwargs"}, leftOut);
  if (status.ok())
    status = chat::readMessages(json, leftOut, conversation);
  if (!status.ok())
    throw Error(path + ": " + status.message());
}

bool Questions::nextLine() {
  std::string text;
  while (true) {
    if (isTerminal)
      std::fputs("> ", stderr);
    if (!std::getline(std::cin, text)) {
      std::fputs(isTerminal ? "\n" : "", stderr);
      return false;
    }
    ++line;
    if (!text.empty() && text.back() == '\r')
      text.pop_back();
    if (text.find_first_not_of(" \t") != std::string::npos)
      break;
  }
  if (size_t bad = text::findInvalidUtf8(text); bad != std::string::npos)
    throw Error(place() + ": byte " + std::to_string(bad) +
                " begins no UTF-8 sequence; convert the text to UTF-8");
  add("user", text);
  return true;
}

bool Questions::next() {
  if (fromLines)
    return nextLine();
  return !std::exchange(hasAsked, true);
}

void Questions::answer(const std::string &text) { add("assistant", text); }

std::string Questions::place() const {
  return fromLines ? "standard input: line " + std::to_string(line) : file.empty() ? "--prompt" : file;
}

} // namespace par::generating
