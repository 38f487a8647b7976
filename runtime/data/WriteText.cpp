#include "data/Data.h"
#include "data/TokenWriter.h"
#include "text/ModelFolder.h"

#include <algorithm>

namespace par::data {

/// What the file says of itself counts, as for par-run; a name that says nothing means tokens here, never
/// bytes.
static io::Status openTokens(const DataOptions &options, uint32_t vocabulary, io::TokenFile &source) {
  io::TokenType type = options.type;
  std::string suffix = ".bin";
  const std::string &path = options.decode;
  bool isNamed =
      path.size() >= 4 && (path.substr(path.size() - 4) == suffix || path.substr(path.size() - 4) == ".idx");
  if (type == io::TokenType::automatic && !isNamed && !io::isFile(io::descriptionFile(path)))
    type = typeFor(vocabulary);
  return source.open(path, type, vocabulary);
}

/// Ids mean other words to another tokenizer.
static io::Status checkTokenizer(const io::TokenFile &source, const std::string &tokenizer) {
  const std::optional<io::TokenDescription> &said = source.description();
  std::string hash;
  if (!said || said->tokenizer.empty())
    return {};
  PAR_TRY(io::hashTokenizer(tokenizer, hash));
  return hash == said->tokenizer
             ? io::Status()
             : io::Status::error(source.path() + ": was written with another tokenizer than " + tokenizer +
                                 ", as " + io::descriptionFile(source.path()) +
                                 " says; give --tokenizer what the file was made with");
}

io::Status writeText(const DataOptions &options) {
  text::ModelFolder model;
  PAR_TRY(model.open(options.tokenizer));
  Output output;
  PAR_TRY(output.create(options.output, {options.decode, model.file}));
  io::TokenFile source;
  source.nameTypeFlag("--dtype");
  PAR_TRY(openTokens(options, model.vocabulary, source));
  PAR_TRY(checkTokenizer(source, model.file));
  std::vector<uint32_t> ids;
  constexpr int64_t block = 1 << 16;
  for (int64_t first = 0; first < source.size(); first += block) {
    ids.assign(size_t(std::min(block, source.size() - first)), 0);
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = uint32_t(source.token(first + int64_t(i)));
    std::string text;
    io::Status status = model.tokenizer.decode(ids.data(), ids.size(), text, /*begins=*/first == 0);
    if (!status.ok())
      return io::Status::error(options.decode + ": from token " + std::to_string(first) +
                               " on: " + status.message() +
                               "; give the tokenizer and --dtype that the file was made with");
    PAR_TRY(output.write(text));
  }
  return output.commit();
}

} // namespace par::data
