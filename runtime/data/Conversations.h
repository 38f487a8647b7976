/// Instruction data: conversations as texts in which the answers are marked.
#ifndef PAR_DATA_CONVERSATIONS_H
#define PAR_DATA_CONVERSATIONS_H

#include "chat/ChatTemplate.h"
#include "par/io/Status.h"
#include "text/Tokenizer.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace par::data {

/// A text, and the bytes of it that a model is to learn to say.
struct Conversation {
  struct Answer {
    size_t begin, end;
  };
  std::string text;
  std::vector<Answer> answers;
  bool hasMessages = false;
};

/// How turns become text: "<|im_start|>{role}\n{content}<|im_end|>\n".
class ChatFormat {
public:
  /// "ROLE=TEMPLATE", * for all roles without one of their own. Returns what is wrong with it, or nothing.
  std::string add(const std::string &turn);
  bool empty() const { return templates.empty(); }
  /// The format that a tokenizer's special tokens are of: ChatML's or Llama 3's. Nothing where they are
  /// neither.
  static ChatFormat of(const text::Tokenizer &tokenizer);

  /// Appends a turn. Of the role "assistant" all from the content on is an answer. Fails without a template.
  io::Status append(const std::string &role, const std::string &content, Conversation &conversation) const;

private:
  std::map<std::string, std::string> templates; ///< by role
};

/// How messages are written: as turns say, else as the model's own template does.
struct MessageFormat {
  ChatFormat turns;
  chat::ChatTemplate whole;
  std::string source; ///< whose format it is, for the report

  /// `given` are the flags' turns. Without them the folder's template counts, and where there is none what
  /// the tokenizer's special tokens say.
  io::Status open(const ChatFormat &given, const std::string &folder, const text::Tokenizer &tokenizer);
};

/// The text of messages, and what of it the assistant says: from where the template asks for an answer to the
/// end of what it writes for that message. Fails where it writes what came before differently once more
/// follows, so that this cannot be told.
io::Status writeByTemplate(const chat::ChatTemplate &whole, const chat::Json &messages,
                           const chat::Json &tools, Conversation &conversation);

/// A line of JSON with "messages" ([{"role", "content"}, …]) or with "prompt" and "completion". The error
/// does not name the line.
io::Status readConversation(const MessageFormat &format, std::string_view line, Conversation &conversation);

} // namespace par::data
#endif
