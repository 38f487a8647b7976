#include "data/AnswerPlaces.h"

#include <algorithm>

namespace par::data {

using chat::Json;
using chat::Messages;
using chat::Span;

/// Other words of a message. Two of them have no first and no last letter in common, so that one of them at
/// least differs from the message's own, and from what stands beside them, at both ends.
static constexpr const char *otherWords[] = {"Quite other words", "just something else: Z"};

static void replaceArguments(Json &call, const std::string &words) {
  if (!call.is_object())
    return;
  if (call.contains("function"))
    return replaceArguments(call["function"], words);
  if (call.contains("name") && call["name"].is_string())
    call["name"] = words;
  if (call.contains("arguments"))
    call["arguments"] =
        call["arguments"].is_string() ? Json(Json({{words, words}}).dump()) : Json({{words, words}});
}

static bool hasCalls(const Json &message) {
  return (message.contains("tool_calls") && !message["tool_calls"].empty()) ||
         (message.contains("function_call") && !message["function_call"].empty());
}

/// The message with other words in place of all that it says.
static Json withOtherWords(Json message, const std::string &words) {
  for (const char *key : {"content", "reasoning_content", "reasoning", "thinking"})
    if (message.contains(key) && message[key].is_string() &&
        (std::string_view(key) == "content" || !message[key].get_ref<const std::string &>().empty()))
      message[key] = words;
  if (message.contains("content") && message["content"].is_array())
    for (Json &part : message["content"])
      (part.is_string() ? part : part["text"]) = words;
  if (message.contains("tool_calls") && message["tool_calls"].is_array())
    for (Json &call : message["tool_calls"])
      replaceArguments(call, words);
  if (message.contains("function_call"))
    replaceArguments(message["function_call"], words);
  return message;
}

static size_t commonBeginning(std::string_view one, std::string_view other) {
  size_t most = std::min(one.size(), other.size());
  return size_t(std::mismatch(one.begin(), one.begin() + int64_t(most), other.begin()).first - one.begin());
}

static io::Status notWritten(const chat::ChatTemplate &whole, size_t number) {
  return io::Status::error(whole.source() + ": does not write what " + chat::nameOfMessage(number) + " says");
}

io::Status AnswerPlaces::checkContent(size_t number) const {
  for (const char *words : otherWords) {
    Messages other = messages;
    Json &content = other.list[number]["content"];
    if (content.is_string())
      content = words;
    else
      for (Json &part : content)
        (part.is_string() ? part : part["text"]) = words;
    chat::Written again;
    PAR_TRY(whole.write(other, /*asks=*/false, again));
    if (again.text != text)
      return {};
  }
  return notWritten(whole, number);
}

io::Status AnswerPlaces::locate(const Messages &all, const std::string &written, size_t number,
                                Span &place) const {
  place = {written.size(), 0};
  bool changes = false;
  for (const char *words : otherWords) {
    Messages other = all;
    other.list[number] = withOtherWords(all.list[number], words);
    chat::Written again;
    PAR_TRY(whole.write(other, /*asks=*/false, again));
    if (again.text == written)
      continue; // these are its own
    changes = true;
    size_t before = commonBeginning(written, again.text);
    size_t most = std::min(written.size(), again.text.size()) - before, behind = 0;
    while (behind < most &&
           written[written.size() - 1 - behind] == again.text[again.text.size() - 1 - behind])
      ++behind;
    place.begin = std::min(place.begin, before);
    place.end = std::max(place.end, written.size() - behind);
  }
  return changes ? io::Status() : notWritten(whole, number);
}

io::Status AnswerPlaces::locate(size_t number, Span &place) const {
  located.resize(messages.list.size());
  if (!located[number]) {
    Span found{0, 0};
    io::Status status = locate(messages, text, number, found);
    located[number].emplace(status, found);
  }
  place = located[number]->second;
  return located[number]->first;
}

static std::string unclear(const chat::ChatTemplate &whole, size_t number) {
  return whole.source() + ": writes what comes before an answer differently once the answer, or more, " +
         "follows, and what " + chat::nameOfMessage(number) + " says ";
}

/// Words that are only in part its content were changed, or were written more than once.
io::Status AnswerPlaces::checkWords(size_t number, const Span &place) const {
  const Json &message = messages.list[number];
  for (const char *key : {"reasoning_content", "reasoning", "thinking"})
    if (message.contains(key) && message[key].is_string())
      return {};
  if (hasCalls(message) || !message.contains("content") || !message["content"].is_string())
    return {};
  const std::string &content = message["content"].get_ref<const std::string &>();
  if (content.find(text.substr(place.begin, place.end - place.begin)) != std::string::npos)
    return {};
  return io::Status::error(
      unclear(whole, number) +
      "otherwise than it says it, or more than once, so that par cannot tell where it is");
}

io::Status AnswerPlaces::findWords(size_t number, Span &place) {
  PAR_TRY(locate(number, place));
  return checkWords(number, place);
}

/// The words of the message before it that the text has.
size_t AnswerPlaces::endOfPrevious(size_t number) {
  Span place;
  while (number-- > 0)
    if (locate(number, place).ok())
      return place.end;
  return 0;
}

/// What the template writes where it asks for the answer.
std::string AnswerPlaces::promptOf(size_t number) const {
  chat::Written plain, asking;
  Messages before = messages.first(number);
  if (number == 0 || messages.roleOf(number) != "assistant" || !whole.write(before, false, plain).ok() ||
      !whole.write(before, true, asking).ok())
    return "";
  return asking.text.substr(commonBeginning(plain.text, asking.text));
}

/// Behind the only prompt between the message before it and its words, else where these begin.
size_t AnswerPlaces::beginOf(size_t number, const Span &words, const std::string &prompt, bool &isCertain) {
  isCertain = false;
  size_t from = std::min(endOfPrevious(number), words.begin);
  std::string_view between = std::string_view(text).substr(from, words.begin - from);
  size_t at = prompt.empty() ? std::string::npos : between.find(prompt);
  if (at == std::string::npos || between.find(prompt, at + 1) != std::string::npos)
    return words.begin;
  isCertain = true;
  return from + at + prompt.size();
}

/// Bytes between the words and what the template writes before a message of the next one's role, as it does
/// at the beginning of the conversation; 0 where that cannot be told.
size_t AnswerPlaces::beforeNextTurn(size_t number, const Span &words) const {
  Span next, first;
  if (number + 1 >= messages.list.size() || messages.roleOf(number + 1) != messages.roleOf(0) ||
      !locate(number + 1, next).ok() || !locate(0, first).ok() || next.begin < words.end)
    return 0;
  std::string_view head = std::string_view(text).substr(0, first.begin),
                   between = std::string_view(text).substr(words.end, next.begin - words.end);
  size_t same = 0, most = std::min(head.size(), between.size());
  while (same < most && head[head.size() - 1 - same] == between[between.size() - 1 - same])
    ++same;
  size_t length = between.size() - same;
  bool isWhole =
      same > 0 && length > 0 && std::string_view("\n >]").find(between[length - 1]) != std::string::npos;
  return isWhole ? length : 0;
}

/// Behind the last added token, and blanks, that follow the words whether more comes or not; else before what
/// opens the next turn, if that follows them in both cases.
io::Status AnswerPlaces::endOf(size_t number, const Span &words, const std::string &prompt, size_t &end,
                               bool &isCertain) const {
  Messages last = messages.first(number + 1);
  chat::Written written;
  Span place;
  PAR_TRY(whole.write(last, /*asks=*/false, written));
  PAR_TRY(locate(last, written.text, number, place));
  std::string_view behind = std::string_view(text).substr(words.end),
                   alone = std::string_view(written.text).substr(place.end);
  if (!prompt.empty() && alone.size() >= prompt.size() &&
      alone.substr(alone.size() - prompt.size()) == prompt) // of templates that always ask
    alone.remove_suffix(prompt.size());
  size_t common = commonBeginning(behind, alone), length = common == alone.size() ? common : 0;
  isCertain = length > 0 || alone.empty();
  size_t begin, until;
  for (size_t at = 0;
       common < alone.size() && tokenizer.findAdded(behind, at, begin, until) && until <= common;
       at = length = until)
    isCertain = true;
  if (size_t turn = beforeNextTurn(number, words); length == 0 && turn <= common)
    length = turn, isCertain |= turn > 0;
  while (length < common && (behind[length] == '\n' || behind[length] == ' '))
    ++length;
  end = words.end + length;
  return {};
}

io::Status AnswerPlaces::findAnswer(size_t number, Span &answer) {
  Span words;
  PAR_TRY(findWords(number, words));
  if (words.begin < endOfPrevious(number))
    return io::Status::error(unclear(whole, number) +
                             "lies within what another message says, so that par cannot tell where it is");
  bool isBeginCertain, isEndCertain;
  std::string prompt = promptOf(number);
  answer.begin = beginOf(number, words, prompt, isBeginCertain);
  PAR_TRY(endOf(number, words, prompt, answer.end, isEndCertain));
  // Of calls only names and arguments change: what the template writes around them belongs to the answer.
  if (hasCalls(messages.list[number]) && (!isBeginCertain || !isEndCertain))
    return io::Status::error(unclear(whole, number) +
                             "calls tools, of which par cannot tell where they begin or end");
  return {};
}

} // namespace par::data
