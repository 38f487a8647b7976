/// What a model is asked in a conversation.
#ifndef PAR_GENERATE_QUESTIONS_H
#define PAR_GENERATE_QUESTIONS_H

#include "chat/MessageFormat.h"
#include "generate/Generate.h"

#include <string>

namespace par::generating {

/// The conversation so far, with a question at its end: the prompt, a file of messages, or the lines of
/// standard input one after the other.
class Questions {
public:
  /// Throws rt::Error: a file that has no messages.
  explicit Questions(const GenerateOptions &options);

  /// Adds the next question; false where none is left. Throws rt::Error.
  bool next();
  /// Adds what the model says.
  void answer(const std::string &text);
  bool areLines() const { return fromLines; }
  /// Where the last question is from, for messages.
  std::string place() const;

  chat::Messages conversation;

private:
  void readFile(const std::string &path);
  bool nextLine();
  void add(const char *role, const std::string &content);

  const bool fromLines, isTerminal;
  std::string file;
  bool hasAsked = false;
  int64_t line = 0;
};

} // namespace par::generating
#endif
