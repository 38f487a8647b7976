/// Instruction data: conversations as texts in which the answers are marked.
#ifndef PAR_DATA_CONVERSATIONS_H
#define PAR_DATA_CONVERSATIONS_H

#include "chat/MessageFormat.h"
#include "par/io/Status.h"

#include <string>
#include <string_view>
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

/// The text of messages, and what of it the assistant says: from where the template asks for an answer to the
/// end of what it writes for that message. Fails where it writes what came before differently once more
/// follows, so that this cannot be told.
io::Status writeByTemplate(const chat::ChatTemplate &whole, const chat::Json &messages,
                           const chat::Json &tools, Conversation &conversation);

/// A line of JSON with "messages" ([{"role", "content"}, …]) or with "prompt" and "completion". The error
/// does not name the line.
io::Status readConversation(const chat::MessageFormat &format, std::string_view line,
                            Conversation &conversation);

} // namespace par::data
#endif
