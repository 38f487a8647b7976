#include "data/Data.h"
#include "data/Documents.h"
#include "data/MaskedEncoding.h"
#include "data/ProgressLine.h"
#include "data/TokenWriter.h"
#include "par/io/MaskedTokens.h"
#include "text/Encoder.h"
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
    if (options.isChat) {
      type = io::TokenType::uint32;
      PAR_TRY(format.open(options.turns, model.folder, model.tokenizer));
      writer.writeMasks();
    }
    for (const std::string &path : options.inputs)
      PAR_TRY(input(path));
    if (writer.tokens() == 0)
      return io::Status::error(options.inputs.front() +
                               (before ? ": has no text, nor has another input, so there is nothing to write"
                                       : ": is empty, as are all inputs, so there is nothing to write"));
    if (options.isChat && !options.turns.empty() && !hasMessages)
      return io::Status::error("--turn says how \"messages\" are written, but no line of " +
                               options.inputs.front() + (options.inputs.size() > 1 ? " and the others" : "") +
                               " has any; leave it out");
    PAR_TRY(writer.commit());
    report();
    return {};
  }

private:
  io::Status addEos() {
    uint32_t id;
    PAR_TRY(model.findEos(options.eos, id));
    eos = {id};
    return {};
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
    PAR_TRY(readConversation(format, line, conversation));
    ++documents;
    std::vector<uint32_t> ids = options.prependBos ? model.tokenizer.prefix() : std::vector<uint32_t>(), text;
    for (uint32_t &id : ids)
      id |= io::maskedBit;
    PAR_TRY(encodeMasked(*encoder, conversation, text));
    // A template may write the beginning itself; a second one is not what the model knows.
    if (options.prependBos && model.tokenizer.hasPrefix(text, ~io::maskedBit))
      return io::Status::error("begins with the tokens of --prepend-bos already; leave it out");
    hasMessages |= conversation.hasMessages;
    ids.insert(ids.end(), text.begin(), text.end());
    bool answers = !text.empty() && !(text.back() & io::maskedBit); // a model is to end its answer
    for (uint32_t id : eos)
      ids.push_back(answers ? id : id | io::maskedBit);
    targets +=
        uint64_t(std::count_if(ids.begin(), ids.end(), [](uint32_t id) { return !(id & io::maskedBit); }));
    progress.show(before + offset + line.size(), total);
    return writer.append(ids);
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
      std::fprintf(to, "%s: %llu of them are targets\n", options.output.c_str(),
                   static_cast<unsigned long long>(targets));
    if (hasMessages)
      std::fprintf(to, "%s: messages are written as %s\n", options.output.c_str(), format.source.c_str());
  }

  const DataOptions &options;
  text::ModelFolder model;
  chat::MessageFormat format;
  std::unique_ptr<text::Encoder> encoder;
  TokenWriter writer;
  io::TokenType type = io::TokenType::uint16;
  std::vector<uint32_t> eos;
  bool hasMessages = false;
  uint64_t total = 0, before = 0, documents = 0, targets = 0;
  ProgressLine progress;
};
} // namespace

io::Status writeTokens(const DataOptions &options) { return Run(options).all(); }

} // namespace par::data
