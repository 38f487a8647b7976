/// The messages of a conversation as files of others have them, with what is said beside role and content.
#ifndef PAR_CHAT_MESSAGES_H
#define PAR_CHAT_MESSAGES_H

#include "chat/TemplateSyntax.h"
#include "par/io/Status.h"

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace par::chat {

/// Keys that are left out on purpose.
struct LeftOut {
  std::set<std::string> keys;  ///< of --ignore-key
  bool byFlag = false;         ///< the tool has that flag: for remedies
  std::set<std::string> notes; ///< keys that begin with '_' or hold a dot, which are notes of other tools

  /// Whether a key is one of them. A note is kept for the report.
  bool has(const std::string &key);
  /// "take it out, or leave it out by --ignore-key KEY"
  std::string remedy(const std::string &key) const;
};

/// Fails where an object has another key than these, with a value.
io::Status onlyKeys(const Json &object, std::initializer_list<const char *> known, LeftOut &leftOut);

/// Whether an object has a value there: tables of data fill rows up with null.
bool has(const Json &object, const char *key);

struct Messages {
  Json list = Json::array(); ///< [{"role", "content", …}, …] without keys about training
  Json tools, settings;      ///< "tools" and "chat_template_kwargs" of the conversation, or null
  /// Of each message whether its keys say that it is trained (true) or not, where they do.
  std::vector<std::optional<bool>> trained;

  std::string roleOf(size_t number) const { return list[number]["role"]; }
  /// Whether a message is a target: what the assistant says is, unless keys say otherwise.
  bool isTarget(size_t number) const;
  /// The first `count` of them.
  Messages first(size_t count) const;
};

/// "messages", "tools" and "chat_template_kwargs" of a line. Fails where one of them is none, a message says
/// nothing, or its keys about training contradict each other; which other keys a format can write is asked
/// elsewhere (MessageFormat::check).
io::Status readMessages(const Json &line, LeftOut &leftOut, Messages &messages);

/// A text of a file as messages show it: in quotation marks, cut, its control characters escaped.
std::string quoted(const std::string &text);

/// "message 2", as errors count them.
std::string nameOfMessage(size_t number);

} // namespace par::chat
#endif
