#include "data/Data.h"
#include "data/Documents.h"
#include "data/MaskedEncoding.h"
#include "data/ProgressLine.h"
#include "data/TokenWriter.h"
#include "par/io/MaskedTokens.h"
#include "text/Encoder.h"
#include "text/EndTokens.h"
#include "text/ModelFolder.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace par::data {

namespace {
/// One run: a tokenizer, an output, inputs one after another.
class Run {
public:
  explicit Run(const DataOptions &options) : options(options), progress(options.output) {}

  io::Status all() {
    PAR_TRY(model.open(options.tokenizer));
    if (options.appendEos)
      PAR_TRY(addEos());
    if (options.prependBos && model.tokenizer.prefix().empty())
      return io::Status::error(model.file +
                               ": post_processor puts no token before a text; leave out --prepend-bos");
    type = options.type == io::TokenType::automatic ? typeFor(model.vocabulary) : options.type;
    encoder = std::make_unique<text::Encoder>(model.tokenizer);
    encoder->ignoreAddedTokens(options.plain);
    PAR_TRY(sizeInputs());
    std::vector<std::string> read = options.inputs;
    read.push_back(model.file);
    PAR_TRY(writer.create(options.output, read, type));
    PAR_TRY(io::hashTokenizer(model.file, about.tokenizer));
    about.vocabulary = model.vocabulary;
    if (options.isChat) {
      type = io::TokenType::uint32;
      PAR_TRY(format.open(options.turns, model.folder, model.tokenizer));
      PAR_TRY(findEnds());
      reader.leftOut.keys = options.ignored, reader.leftOut.byFlag = true;
      writer.writeMasks(options.rows);
    }
    for (const std::string &path : options.inputs)
      PAR_TRY(input(path));
    if (writer.tokens() == 0)
      return io::Status::error(options.inputs.front() +
                               (before ? ": has no text, nor has another input, so there is nothing to write"
                                       : ": is empty, as are all inputs, so there is nothing to write"));
    if (options.isChat && writer.targets() == 0)
      return noTargets();
    if (options.isChat && !options.turns.empty() && about.roles.empty())
      return io::Status::error("--turn says how \"messages\" are written, but no line of " +
                               options.inputs.front() + (options.inputs.size() > 1 ? " and the others" : "") +
                               " has any; leave it out");
    PAR_TRY(writer.commit(about));
    report();
    return {};
  }

private:
  io::Status addEos() {
    uint32_t id;
    PAR_TRY(model.findEos(options.eos, id));
    eos = {id};
    about.endToken = id;
    return {};
  }

  /// Tokens at which a model stops, as its folder says.
  io::Status findEnds() {
    std::string token, file;
    PAR_TRY(text::findEndTokens(model.folder, model.vocabulary, ends));
    PAR_TRY(text::findEndToken(model.folder, token, file));
    ends.push_back(model.tokenizer.find(token));
    ends.insert(ends.end(), eos.begin(), eos.end());
    return {};
  }

  /// A model of such data would learn nothing.
  io::Status noTargets() const {
    std::string roles;
    for (const auto &[role, count] : about.roles)
      roles += (roles.empty() ? "" : ", ") + chat::quoted(role);
    std::string what = options.inputs.front() + (options.inputs.size() > 1 ? " and the others" : "") +
                       ": no token is a target of training: ";
    if (roles.empty())
      return io::Status::error(what + "every completion is empty; give data with some");
    if (!about.roles.count("assistant"))
      return io::Status::error(what + "what \"assistant\" says is one, and messages have the roles " + roles +
                               " alone; rename the role, or give --lines sharegpt for ShareGPT's names");
    return io::Status::error(
        what + "messages have the roles " + roles +
        ", but all that the assistant says is empty, or not to be trained as \"weight\" and "
        "the like say; give data with some");
  }

  /// Says early that an input cannot be read.
  io::Status sizeInputs() {
    for (const std::string &path : options.inputs) {
      if (path == "-")
        continue;
      io::MappedFile file;
      PAR_TRY(file.open(path));
      total += file.size();
    }
    return {};
  }

  io::Status input(const std::string &path) {
    io::MappedFile file;
    std::string standard;
    std::string_view content;
    if (path == "-") {
      PAR_TRY(readStandardInput(standard));
      total += standard.size(), content = standard;
    } else {
      PAR_TRY(file.open(path));
      content = {reinterpret_cast<const char *>(file.data()), file.size()};
    }
    PAR_TRY(
        options.isChat
            ? forEachLine(path, content,
                          [&](std::string_view line, size_t offset) { return conversation(line, offset); })
            : forEachDocument(options, path, content, [&](std::string_view text, size_t offset) {
                return document(path, text, offset);
              }));
    before += content.size();
    return {};
  }

  static io::Status readStandardInput(std::string &content) {
    char block[65536];
    ssize_t got;
    while ((got = ::read(0, block, sizeof(block))) > 0)
      content.append(block, size_t(got));
    return got == 0 ? io::Status() : io::Status::error("-: standard input cannot be read");
  }

  io::Status document(const std::string &path, std::string_view text, size_t offset) {
    ++documents;
    if (options.prependBos)
      PAR_TRY(writer.append(model.tokenizer.prefix()));
    io::Status failure; // of the output, whose message names its file already
    io::Status status = encoder->encode(text, [&](const std::vector<uint32_t> &ids, size_t done) {
      progress.show(before + offset + done, total);
      return failure = writer.append(ids);
    });
    if (!status.ok() && failure.ok())
      return io::Status::error(path + ": document at byte " + std::to_string(offset) + ": " +
                               status.message());
    PAR_TRY(status);
    return writer.append(eos);
  }

  io::Status conversation(std::string_view line, size_t offset) {
    Conversation conversation;
    PAR_TRY(reader.read(line, conversation));
    ++documents;
    std::vector<uint32_t> ids = options.prependBos ? model.tokenizer.prefix() : std::vector<uint32_t>();
    for (uint32_t &id : ids)
      id |= io::maskedBit;
    MaskedIds text;
    PAR_TRY(encodeMasked(*encoder, model.tokenizer, conversation, text));
    // A template may write the beginning itself; a second one is not what the model knows.
    if (options.prependBos && model.tokenizer.hasPrefix(text.ids, ~io::maskedBit))
      return io::Status::error("begins with the tokens of --prepend-bos already; leave it out");
    for (const std::string &role : conversation.roles)
      ++about.roles[role];
    trainsOthers |= conversation.trainsOthers;
    ids.insert(ids.end(), text.ids.begin(), text.ids.end());
    bool answers = !ids.empty() && !(ids.back() & io::maskedBit); // a model is to end its answer
    for (uint32_t id : eos)
      ids.push_back(answers ? id : id | io::maskedBit);
    countEnds(text, answers);
    if (options.rows && !ids.empty())
      ids.front() |= io::rowBit;
    progress.show(before + offset + line.size(), total);
    return writer.append(ids);
  }

  /// An answer ends with a token of its own, behind which there may be blanks, or with --append-eos.
  void countEnds(const MaskedIds &text, bool isLastEnded) {
    for (size_t end : text.answers) {
      bool isEnd = isLastEnded && !eos.empty() && end == text.ids.size(), isBlank = true;
      for (size_t i = end; !isEnd && isBlank && i-- > 0;) {
        uint32_t id = text.ids[i] & ~io::maskedBit;
        std::string_view bytes = model.tokenizer.bytes(id);
        isEnd = std::count(ends.begin(), ends.end(), int64_t(id)) || model.tokenizer.findAdded(bytes) == id;
        isBlank = bytes.find_first_not_of(" \n") == std::string_view::npos;
      }
      ++answers, endedAnswers += isEnd;
    }
  }

  void report() const {
    double seconds = progress.seconds();
    // Tokens on standard output stay alone there.
    std::FILE *to = Output::isStandard(options.output) ? stderr : stdout;
    std::fprintf(
        to, "%s: %llu tokens of %s from %llu document%s of %llu bytes in %.1f s (%.1f MB/s), vocabulary %u\n",
        options.output.c_str(), static_cast<unsigned long long>(writer.tokens()), io::nameOf(type).c_str(),
        static_cast<unsigned long long>(documents), documents == 1 ? "" : "s",
        static_cast<unsigned long long>(before), seconds, double(before) / 1e6 / seconds, model.vocabulary);
    if (options.isChat)
      reportChats(to);
  }

  void reportChats(std::FILE *to) const {
    const char *name = options.output.c_str();
    std::fprintf(to, "%s: %llu of them are targets\n", name,
                 static_cast<unsigned long long>(writer.targets()));
    if (!about.roles.empty())
      std::fprintf(to, "%s: messages are written as %s\n", name, format.source.c_str());
    if (trainsOthers)
      std::fprintf(to,
                   "note: of other roles than \"assistant\" messages are targets, too, as their \"weight\", "
                   "\"train\" or the like says\n");
    if (endedAnswers == 0)
      std::fprintf(to, "note: no answer ends in an end token, so that a model does not learn to stop; give "
                       "--append-eos, or a --turn for the assistant that ends in one\n");
    if (!reader.leftOut.notes.empty()) {
      std::string keys;
      for (const std::string &key : reader.leftOut.notes)
        keys += (keys.empty() ? "" : ", ") + chat::quoted(key);
      std::fprintf(to, "note: ignored are keys that begin with '_' or hold a dot: %s\n", keys.c_str());
    }
  }

  const DataOptions &options;
  text::ModelFolder model;
  chat::MessageFormat format;
  LineReader reader{format, model.tokenizer, options.lines, {}};
  std::unique_ptr<text::Encoder> encoder;
  TokenWriter writer;
  io::TokenDescription about;
  io::TokenType type = io::TokenType::uint16;
  std::vector<uint32_t> eos;
  std::vector<int64_t> ends; ///< tokens at which the model stops; -1 is none
  bool trainsOthers = false;
  uint64_t total = 0, before = 0, documents = 0, answers = 0, endedAnswers = 0;
  ProgressLine progress;
};
} // namespace

io::Status writeTokens(const DataOptions &options) { return Run(options).all(); }

} // namespace par::data
