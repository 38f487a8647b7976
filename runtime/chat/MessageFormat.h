/// How a conversation becomes text: by turns, or by the model's own template.
#ifndef PAR_CHAT_MESSAGEFORMAT_H
#define PAR_CHAT_MESSAGEFORMAT_H

#include "chat/ChatTemplate.h"
#include "chat/TurnFormat.h"

#include <string>

namespace par::chat {

struct AnswerFrame {
  size_t blanks = 0;  ///< spaces before it
  std::string behind; ///< up to the next turn; empty where the format does not tell
};

/// How messages are written: as turns say, else as the model's own template does.
struct MessageFormat {
  TurnFormat turns;
  ChatTemplate whole;
  std::string source; ///< whose format it is, for reports

  /// `given` are the flags' turns. Without them the folder's template counts, and where there is none what
  /// the tokenizer's special tokens say.
  io::Status open(const TurnFormat &given, const std::string &folder, const text::Tokenizer &tokenizer);
  /// False: neither flags nor folder nor tokenizer say how messages are written.
  bool exists() const { return !turns.empty() || whole.exists(); }

  /// Whether the format writes all that these messages say.
  io::Status check(const Messages &messages, const LeftOut &leftOut) const;
  /// The text of checked messages up to where the model is to answer. Of turns, spaces at its end are left
  /// out: tokens of whole conversations, which training has, begin with them.
  io::Status ask(const Messages &messages, std::string &text) const;
  /// What `ask` lets the model write around the text of an answer.
  AnswerFrame answerFrame() const;

private:
  io::Status checkByTurns(const Messages &messages, const LeftOut &leftOut) const;
  io::Status checkByTemplate(const Messages &messages, const LeftOut &leftOut) const;
  io::Status askByTurns(const Messages &messages, std::string &text) const;
  AnswerFrame frameByTemplate() const;
};

} // namespace par::chat
#endif
