/// How a model's own chat template writes a conversation (docs/Running.md, "Chat templates").
#ifndef PAR_CHAT_CHATTEMPLATE_H
#define PAR_CHAT_CHATTEMPLATE_H

#include "chat/Messages.h"
#include "chat/TemplateEvaluator.h"
#include "chat/TemplateLexer.h"
#include "par/io/Status.h"

#include <set>
#include <string>

namespace par::chat {

/// The reasoning of a message, under the first of the names that it has; null where it has none.
const Json *reasoningOf(const Json &message);

class ChatTemplate {
public:
  /// That of a Hugging Face folder: chat_template.jinja, else `chat_template` in tokenizer_config.json.
  io::Status open(const std::string &folder);
  /// False: the folder has none.
  bool exists() const { return !place.empty(); }
  /// Where it is from, for messages.
  const std::string &source() const { return place; }

  /// The text of the messages as Hugging Face's apply_chat_template writes it; `asks`: up to where the model
  /// is to answer. Fails where the template has what par does not evaluate, or refuses the conversation.
  io::Status write(const Messages &messages, bool asks, Written &written) const;
  /// Whether a key of a message, or of what messages hold, stands in the template: behind a dot, or as a
  /// text.
  bool readsKey(const std::string &name) const { return keys.count(name) > 0; }
  /// Whether the template reads a variable that a conversation may give.
  bool readsVariable(const std::string &name) const { return variables.count(name) > 0; }
  /// Whether it has {% generation %}, which says what of a text is an answer.
  bool marksAnswers() const { return hasMarks; }

private:
  io::Status parse(const std::string &source);
  void listNames(const std::vector<Word> &words);

  std::string place, problem; ///< what is wrong with the template, said when it is used
  Block block;
  std::set<std::string> keys, variables; ///< names that the template reads
  bool hasMarks = false;
  Json tokens = Json::object(); ///< bos_token and the like
};

} // namespace par::chat
#endif
