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

static bool overlap(const Span &one, const Span &other) {
  return one.begin < other.end && other.begin < one.end;
}

namespace {
/// The marks of a template, {% generation %}, by the messages that they are of.
class MarkedAnswers {
public:
  MarkedAnswers(const chat::ChatTemplate &whole, const Messages &messages, const std::string &text,
                std::vector<Span> marks)
      : whole(whole), messages(messages), text(text), marks(std::move(marks)), dropped(this->marks.size()) {}

  /// Takes the marks of messages away that are no targets, and adds what others say that are some.
  io::Status followKeys(AnswerPlaces &places, std::vector<Span> &answers);

private:
  bool isDropped(size_t number) const { return messages.trained[number] && !messages.isTarget(number); }
  /// A key that every message has says nothing of the marks.
  bool anyDropped() const;
  bool countByBeginnings();
  void dropByBeginnings();
  io::Status dropByWords(AnswerPlaces &places);
  io::Status addOthers(AnswerPlaces &places, std::vector<Span> &answers) const;

  const chat::ChatTemplate &whole;
  const Messages &messages;
  const std::string &text;
  const std::vector<Span> marks;
  std::vector<bool> dropped;        ///< by mark
  std::vector<size_t> counts = {0}; ///< of marks that so many first messages have
};
} // namespace

bool MarkedAnswers::anyDropped() const {
  for (size_t i = 0; i < messages.list.size(); ++i)
    if (isDropped(i))
      return true;
  return false;
}

/// False where the template writes the marks of a beginning differently once more follows, or refuses it.
bool MarkedAnswers::countByBeginnings() {
  chat::Written part;
  for (size_t count = 1; count <= messages.list.size(); ++count) {
    if (!whole.write(messages.first(count), /*asks=*/false, part).ok() ||
        part.answers.size() < counts.back() || part.answers.size() > marks.size())
      return false;
    for (size_t i = 0; i < part.answers.size(); ++i) {
      const Span &one = part.answers[i], &same = marks[i];
      if (one.begin != same.begin || one.end != same.end ||
          part.text.compare(one.begin, one.end - one.begin, text, same.begin, same.end - same.begin) != 0)
        return false;
    }
    counts.push_back(part.answers.size());
  }
  return counts.back() == marks.size();
}

void MarkedAnswers::dropByBeginnings() {
  for (size_t i = 0; i < messages.list.size(); ++i)
    for (size_t mark = counts[i]; isDropped(i) && mark < counts[i + 1]; ++mark)
      dropped[mark] = true;
}

/// By the words of messages that stand in marks, or at their ends where a message has none.
io::Status MarkedAnswers::dropByWords(AnswerPlaces &places) {
  std::vector<Span> kept, lost;
  for (size_t i = 0; i < messages.list.size(); ++i)
    if (isDropped(i) || messages.roleOf(i) == "assistant") {
      Span words;
      PAR_TRY(places.findWords(i, words));
      (isDropped(i) ? lost : kept).push_back(words);
    }
  for (size_t mark = 0; mark < marks.size(); ++mark) {
    auto isOf = [&](const Span &words) {
      return words.begin < words.end ? overlap(marks[mark], words)
                                     : marks[mark].begin <= words.begin && words.begin <= marks[mark].end;
    };
    dropped[mark] = std::any_of(lost.begin(), lost.end(), isOf);
    if (dropped[mark] && std::any_of(kept.begin(), kept.end(), isOf))
      return io::Status::error(whole.source() +
                               ": has one {% generation %} for messages of which one is to be trained and "
                               "another is not");
  }
  return {};
}

/// Messages of other roles become answers where keys make them targets and no mark does.
io::Status MarkedAnswers::addOthers(AnswerPlaces &places, std::vector<Span> &answers) const {
  for (size_t i = 0; i < messages.list.size(); ++i) {
    if (messages.roleOf(i) == "assistant" || !messages.isTarget(i))
      continue;
    Span words, answer;
    PAR_TRY(places.findWords(i, words));
    auto hasWords = [&](const Span &mark) { return overlap(mark, words); };
    if (std::any_of(marks.begin(), marks.end(), hasWords))
      continue;
    PAR_TRY(places.findAnswer(i, answer));
    answers.push_back(answer);
  }
  return {};
}

io::Status MarkedAnswers::followKeys(AnswerPlaces &places, std::vector<Span> &answers) {
  if (anyDropped()) {
    if (countByBeginnings())
      dropByBeginnings();
    else
      PAR_TRY(dropByWords(places));
  }
  answers.clear();
  for (size_t mark = 0; mark < marks.size(); ++mark)
    if (!dropped[mark])
      answers.push_back(marks[mark]);
  PAR_TRY(addOthers(places, answers));
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

/// The texts of a content: one, or those of its parts.
static std::vector<std::string> textsOf(const chat::Json &message) {
  std::vector<std::string> texts;
  if (!message.contains("content"))
    return texts;
  const chat::Json &content = message["content"];
  if (content.is_string())
    texts.push_back(content);
  else if (content.is_array())
    for (const chat::Json &part : content)
      texts.push_back(part.is_string() ? part : part["text"]);
  return texts;
}

/// Every content has to be written: a template that reads another form of content, or leaves a message out,
/// would lose it. Where a text does not stand there as it is, other words tell whether it changes anything.
static io::Status checkContents(const AnswerPlaces &places, const Messages &messages,
                                const std::string &text) {
  constexpr const char *blanks = " \t\r\n";
  size_t from = 0;
  for (size_t i = 0; i < messages.list.size(); ++i)
    for (const std::string &content : textsOf(messages.list[i])) {
      size_t first = content.find_first_not_of(blanks);
      if (first == std::string::npos)
        continue;
      size_t length = content.find_last_not_of(blanks) + 1 - first;
      size_t at = text.find(content.c_str() + first, from, length);
      if (at == std::string::npos)
        PAR_TRY(places.checkContent(i));
      else
        from = at + length;
    }
  return {};
}

io::Status writeByTemplate(const chat::ChatTemplate &whole, const text::Tokenizer &tokenizer,
                           const Messages &messages, Conversation &conversation) {
  chat::Written written;
  PAR_TRY(whole.write(messages, /*asks=*/false, written));
  conversation.text = std::move(written.text);
  PAR_TRY(checkLists(whole, messages, conversation.text));
  AnswerPlaces places(whole, tokenizer, messages, conversation.text);
  PAR_TRY(checkContents(places, messages, conversation.text));
  if (whole.marksAnswers()) {
    if (written.hidesAnswers)
      return io::Status::error(whole.source() +
                               ": has {% generation %} in a macro or in {% set %}, so that par cannot tell "
                               "where it writes an answer");
    return MarkedAnswers(whole, messages, conversation.text, std::move(written.answers))
        .followKeys(places, conversation.answers);
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
