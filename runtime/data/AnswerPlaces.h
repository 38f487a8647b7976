/// Where a template writes what a message says, found out by writing it again with other words.
#ifndef PAR_DATA_ANSWERPLACES_H
#define PAR_DATA_ANSWERPLACES_H

#include "chat/ChatTemplate.h"
#include "text/Tokenizer.h"

#include <optional>
#include <utility>
#include <vector>

namespace par::data {

/// Of one conversation and its text.
class AnswerPlaces {
public:
  AnswerPlaces(const chat::ChatTemplate &whole, const text::Tokenizer &tokenizer,
               const chat::Messages &messages, const std::string &text)
      : whole(whole), tokenizer(tokenizer), messages(messages), text(text) {}

  /// What changes in the text when the message says something else. Fails where that is more than the
  /// message, or nothing.
  io::Status findWords(size_t number, chat::Span &place);
  /// Whether the text changes with the content of the message.
  io::Status checkContent(size_t number) const;
  /// The words with what the model is to write around them: from where the template asks for an answer, where
  /// that can be told, to the end token behind it.
  io::Status findAnswer(size_t number, chat::Span &answer);

private:
  /// Finds the part of a conversation that changes with the words of one message.
  io::Status locate(const chat::Messages &all, const std::string &written, size_t number,
                    chat::Span &place) const;
  /// Finds it in the whole conversation, once for each message.
  io::Status locate(size_t number, chat::Span &place) const;
  io::Status checkWords(size_t number, const chat::Span &place) const;
  size_t endOfPrevious(size_t number);
  std::string promptOf(size_t number) const;
  size_t beforeNextTurn(size_t number, const chat::Span &words) const;
  size_t beginOf(size_t number, const chat::Span &words, const std::string &prompt, bool &isCertain);
  io::Status endOf(size_t number, const chat::Span &words, const std::string &prompt, size_t &end,
                   bool &isCertain) const;

  const chat::ChatTemplate &whole;
  const text::Tokenizer &tokenizer;
  const chat::Messages &messages;
  const std::string &text;
  mutable std::vector<std::optional<std::pair<io::Status, chat::Span>>> located; ///< by message
};

} // namespace par::data
#endif
