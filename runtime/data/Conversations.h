/// Instruction data: conversations as texts in which the answers are marked.
#ifndef PAR_DATA_CONVERSATIONS_H
#define PAR_DATA_CONVERSATIONS_H

#include "chat/MessageFormat.h"
#include "data/ForeignLines.h"
#include "par/io/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace par::data {

/// A text, and the bytes of it that a model is to learn to say.
struct Conversation {
  using Answer = chat::Span;
  std::string text;
  std::vector<Answer> answers;    ///< in their order
  std::vector<std::string> roles; ///< of its messages; none where it has a prompt
  bool trainsOthers = false;      ///< a key makes what another than the assistant says a target
};

/// How lines of a file become conversations.
struct LineReader {
  const chat::MessageFormat &format;
  const text::Tokenizer &tokenizer;
  LineFormat lines = LineFormat::messages;
  chat::LeftOut leftOut;

  /// A line of JSON with "messages" ([{"role", "content"}, …]) or with "prompt" and "completion", or as
  /// `lines` says. The error does not name the line.
  io::Status read(std::string_view line, Conversation &conversation);

private:
  io::Status readObject(const chat::Json &line, Conversation &conversation);
  io::Status readConversation(const chat::Json &line, Conversation &conversation);
  io::Status readPrompt(const chat::Json &line, Conversation &conversation);
};

/// The text of messages, and what of it is a target: what stands in the template's {% generation %}. Without
/// these marks, from where the template asks for an answer to the end of what it writes for that message;
/// where it writes what came before differently once more follows, AnswerPlaces.h tells. Fails where neither
/// does.
io::Status writeByTemplate(const chat::ChatTemplate &whole, const text::Tokenizer &tokenizer,
                           const chat::Messages &messages, Conversation &conversation);

} // namespace par::data
#endif
