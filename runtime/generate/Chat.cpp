// A conversation: the model answers question after question, written as its chat template says.
#include "core/Error.h"
#include "generate/AnswerText.h"
#include "generate/Continuation.h"
#include "generate/Questions.h"
#include "par/config/Message.h"
#include "text/Encoder.h"
#include "text/EndTokens.h"
#include "text/ModelFolder.h"
#include "text/TextStream.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace par::generating {

using rt::check;
using rt::Error;

namespace {
class Chat : public Continuation {
public:
  Chat(const GenerateOptions &options, const rt::Manifest &manifest)
      : options(options), manifest(manifest), questions(options) {
    check(model.open(findTokenizer(options, "a conversation; give --tokenizer HF_DIR")));
    encoder = std::make_unique<text::Encoder>(model.tokenizer);
    check(format.open(options.turns, model.folder, model.tokenizer));
    if (!format.exists())
      throw Error("--chat: " + model.folder +
                  " has no chat template, and the tokenizer the special tokens of no chat format that is "
                  "known; give --turn ROLE=TEMPLATE");
    if (options.prependBos && model.tokenizer.prefix().empty())
      throw Error(model.file + ": post_processor puts no token before a text; leave out --prepend-bos");
    findEnds();
    if (questions.areLines())
      tryFormat();
    else if (questions.next())
      asked = encode();
  }

  bool begin(std::vector<int32_t> &tokens) override {
    tokens = std::move(asked);
    asked.clear();
    if (tokens.empty() && questions.areLines() && questions.next())
      tokens = encode();
    length = tokens.size();
    answer = AnswerText(stop, frame.blanks);
    written.emplace(model.tokenizer, /*begins=*/true);
    return !tokens.empty();
  }

  bool add(int32_t token) override {
    hasEnded = std::count(ends.begin(), ends.end(), token) || !addText(uint32_t(token));
    length += !hasEnded;
    return !hasEnded;
  }

  void end() override {
    if (written) {
      std::string rest;
      written->finish(rest);
      showMore(rest);
    }
    show(answer.rest());
    endLine();
    questions.answer(answer.text());
    if (!hasEnded && int64_t(length) == manifest.sequence)
      std::fputs(config::noteLine("the answer is cut: the conversation fills the sequence of " +
                                  std::to_string(manifest.sequence) + " tokens that " + manifest.path +
                                  " was compiled for")
                     .c_str(),
                 stderr);
  }

  bool slides() const override { return false; }

private:
  /// An answer ends where the format goes on: with a token of its own, or else with a text. And before what
  /// ends every text of the model.
  void findEnds() {
    ends = generating::findEnds(options, manifest);
    frame = format.answerFrame();
    std::string token, file;
    check(text::findEndToken(model.folder, token, file));
    for (int64_t id : {model.tokenizer.find(token), model.tokenizer.findAdded(frame.behind)})
      if (id >= 0)
        ends.push_back(id);
    if (model.tokenizer.findAdded(frame.behind) < 0)
      stop = frame.behind;
    if (ends.empty() && stop.empty())
      std::fprintf(stderr, "note: nothing ends an answer but --tokens: the format writes nothing behind one, "
                           "and no file of the model names an end token\n");
  }

  /// What is wrong with the format is known before anybody has written a question.
  void tryFormat() {
    chat::Messages messages = questions.conversation;
    messages.list.push_back({{"role", "user"}, {"content", "x"}});
    std::string text;
    check(format.ask(messages, text));
  }

  /// The whole conversation, up to where the model answers.
  std::vector<int32_t> encode() {
    std::vector<uint32_t> ids;
    std::string text;
    io::Status status = format.check(questions.conversation, {});
    if (status.ok())
      status = format.ask(questions.conversation, text);
    if (status.ok())
      status = encoder->encode(text, ids);
    if (!status.ok())
      throw Error(questions.place() + ": " + status.message());
    addPrefix(ids);
    std::vector<int32_t> tokens(ids.begin(), ids.end());
    checkTokens(questions.place(), tokens, manifest);
    if (tokens.empty())
      throw Error(questions.place() + ": " + format.source + " that nothing is written before an answer");
    if (int64_t(tokens.size()) >= manifest.sequence)
      throw Error(questions.place() + ": the conversation has " + std::to_string(tokens.size()) +
                  " tokens, but " + manifest.path + " was compiled for sequences of " +
                  std::to_string(manifest.sequence) +
                  ", which hold the answer too; give a shorter one or compile with a larger --seq");
    return tokens;
  }

  void addPrefix(std::vector<uint32_t> &ids) const {
    if (!options.prependBos)
      return;
    if (model.tokenizer.hasPrefix(ids))
      throw Error("the conversation begins with the tokens of --prepend-bos already; leave it out");
    const std::vector<uint32_t> &prefix = model.tokenizer.prefix();
    ids.insert(ids.begin(), prefix.begin(), prefix.end());
  }

  /// False: the text that ends answers has come.
  bool addText(uint32_t token) {
    std::string text;
    written->add(token, text);
    bool goesOn = showMore(text);
    if (!goesOn)
      written.reset();
    return goesOn;
  }

  bool showMore(std::string_view text) {
    std::string_view certain;
    bool goesOn = answer.add(text, certain);
    show(certain);
    return goesOn;
  }

  static void show(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  const GenerateOptions &options;
  const rt::Manifest &manifest;
  Questions questions;
  text::ModelFolder model;
  std::unique_ptr<text::Encoder> encoder;
  chat::MessageFormat format;
  chat::AnswerFrame frame;
  std::vector<int64_t> ends;               ///< tokens before which an answer ends
  std::string stop;                        ///< a text that does the same, or empty
  std::vector<int32_t> asked;              ///< the one question of flags, until it is taken
  std::optional<text::TextStream> written; ///< tokens of the answer; nothing once `stop` has come
  AnswerText answer;
  size_t length = 0; ///< tokens of the conversation with its answer
  bool hasEnded = false;
};
} // namespace

std::unique_ptr<Continuation> openChat(const GenerateOptions &options, const rt::Manifest &manifest) {
  return std::make_unique<Chat>(options, manifest);
}

} // namespace par::generating
