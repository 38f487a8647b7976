#include "chat/TemplateLexer.h"
#include "chat/TemplatePython.h"
#include "data/AnswerPlaces.h"
#include "data/Conversations.h"

#include <algorithm>

namespace par::data {

using chat::Messages;
using chat::Span;

static bool beginsWith(const std::string &text, const std::string &part) {
  return text.compare(0, part.size(), part) == 0;
}

/// From where the template asks for an answer to the end of what it writes for it. Nothing where it writes
/// one of them differently once more follows, or refuses the beginning of a conversation.
static std::optional<Span> findByBeginnings(const chat::ChatTemplate &whole, const Messages &messages,
                                            size_t number, const std::string &text) {
  chat::Written asked, answered;
  if (messages.roleOf(number) != "assistant" ||
      !whole.write(messages.first(number), /*asks=*/true, asked).ok() ||
      !whole.write(messages.first(number + 1), /*asks=*/false, answered).ok() ||
      !beginsWith(answered.text, asked.text) || !beginsWith(text, answered.text))
    return std::nullopt;
  return Span{asked.text.size(), answered.text.size()};
}

/// Takes the marks of messages away that are no targets, and adds what others say that are some.
static io::Status followKeys(const chat::ChatTemplate &whole, AnswerPlaces &places, const Messages &messages,
                             std::vector<Span> &answers) {
  auto overlap = [](const Span &one, const Span &other) {
    return one.begin < other.end && other.begin < one.end;
  };
  std::vector<Span> kept, dropped;
  bool hasDropped = false;
  for (size_t i = 0; i < messages.list.size(); ++i)
    hasDropped |= messages.trained[i] && !messages.isTarget(i);
  for (size_t i = 0; i < messages.list.size(); ++i) {
    bool isAssistant = messages.roleOf(i) == "assistant", isTarget = messages.isTarget(i);
    Span words;
    if (isTarget && !isAssistant) {
      PAR_TRY(places.findAnswer(i, words));
      answers.push_back(words);
    } else if (hasDropped && isAssistant) {
      PAR_TRY(places.findWords(i, words));
      (isTarget ? kept : dropped).push_back(words);
    }
  }
  std::vector<Span> left;
  for (const Span &answer : answers) {
    auto isOf = [&](const Span &words) { return overlap(answer, words); };
    bool drops = std::any_of(dropped.begin(), dropped.end(), isOf);
    if (drops && std::any_of(kept.begin(), kept.end(), isOf))
      return io::Status::error(whole.source() +
                               ": has one {% generation %} for messages of which one is to be trained and "
                               "another is not");
    if (!drops)
      left.push_back(answer);
  }
  answers = std::move(left);
  std::sort(answers.begin(), answers.end(),
            [](const Span &one, const Span &other) { return one.begin < other.begin; });
  return {};
}

/// As a template prints a list; nothing where par does not know how.
static std::string printed(const chat::Json &list) {
  try {
    return chat::represent(list, 1);
  } catch (const chat::TemplateError &) {
    return "";
  }
}

/// A list that is printed as Python prints lists is no conversation.
static io::Status checkLists(const chat::ChatTemplate &whole, const Messages &messages,
                             const std::string &text) {
  for (size_t i = 0; i < messages.list.size(); ++i)
    if (const chat::Json &message = messages.list[i];
        message.contains("content") && message["content"].is_array() && !message["content"].empty())
      if (std::string list = printed(message["content"]);
          !list.empty() && text.find(list) != std::string::npos)
        return io::Status::error(whole.source() + ": takes no list of parts: it prints that of " +
                                 chat::nameOfMessage(i) +
                                 " with its brackets; make one text of its parts, as \"content\"");
  return {};
}

io::Status writeByTemplate(const chat::ChatTemplate &whole, const text::Tokenizer &tokenizer,
                           const Messages &messages, Conversation &conversation) {
  chat::Written written;
  PAR_TRY(whole.write(messages, /*asks=*/false, written));
  conversation.text = std::move(written.text);
  PAR_TRY(checkLists(whole, messages, conversation.text));
  AnswerPlaces places(whole, tokenizer, messages, conversation.text);
  if (whole.marksAnswers()) {
    if (written.hidesAnswers)
      return io::Status::error(whole.source() +
                               ": has {% generation %} in a macro or in {% set %}, so that par cannot tell "
                               "where it writes an answer");
    conversation.answers = std::move(written.answers);
    return followKeys(whole, places, messages, conversation.answers);
  }
  for (size_t i = 0; i < messages.list.size(); ++i) {
    if (!messages.isTarget(i))
      continue;
    std::optional<Span> answer = findByBeginnings(whole, messages, i, conversation.text);
    if (!answer)
      PAR_TRY(places.findAnswer(i, answer.emplace()));
    conversation.answers.push_back(*answer);
  }
  return {};
}

} // namespace par::data
