#include "par/io/TokenData.h"

#include "par/io/Philox.h"
#include "par/io/Sha256.h"

#include <algorithm>

namespace par::io {

void addDataFile(const std::string &path, DataOptions &data) {
  static const std::string ending = ".safetensors";
  bool isRows =
      path.size() > ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
  (isRows ? data.rows : data.sources).push_back(path);
}

Status TokenData::open(const std::string &source, TokenType type, int64_t seq, uint32_t vocab,
                       uint64_t randomSeed) {
  DataOptions one;
  one.sources = {source}, one.type = type;
  return open(one, seq, vocab, randomSeed);
}

Status TokenData::open(const DataOptions &given, int64_t seq, uint32_t vocab, uint64_t randomSeed) {
  options = given, sequence = seq, vocabulary = vocab, seed = randomSeed;
  random = options.sources == std::vector<std::string>{"random"};
  if (!random)
    return openFiles();
  if (options.shuffle || options.documents == Documents::mask)
    return Status::error("data random: has neither an order nor documents; leave " +
                         std::string(options.shuffle ? "--shuffle" : "--documents mask") + " out");
  if (options.documents == Documents::isolate)
    return Status::error(
        "data random: has no documents, which the package keeps apart (--documents isolate); "
        "give --data FILE");
  return {};
}

/// What a description says of documents is what their ends are found by.
Status TokenData::checkDocuments(const TokenFile &file) const {
  if (!options.findsDocuments())
    return {};
  int64_t said = file.description() ? file.description()->endToken : -1;
  if (said >= 0 && options.documentEnd >= 0 && said != options.documentEnd)
    return Status::error(file.path() + ": its documents end with token " + std::to_string(said) + ", as " +
                         descriptionFile(file.path()) + " says, not with --document-end " +
                         std::to_string(options.documentEnd) + "; leave the flag out");
  if (file.knowsDocuments() || said >= 0 || options.documentEnd >= 0)
    return {};
  const char *flag = options.documents == Documents::mask ? "mask" : "isolate";
  return Status::error(file.path() + ": does not say where its documents begin, which --documents " + flag +
                       " needs; give --document-end ID or a Megatron .bin with its .idx");
}

/// A row that is longer than a window goes on in the next with the last token of this one, so that all but
/// its first are targets; a last token alone would have none. Conversations end in a window that is filled up
/// with padding, for what is left of them may hold an answer.
int64_t TokenData::findWindows(Source &source) const {
  const TokenFile &file = source.file;
  int64_t size = sequence + 1;
  if (!file.hasRows()) {
    bool isRestOne = file.hasMask() && file.size() % size > 1;
    return std::max<int64_t>(1, file.size() / size + isRestOne);
  }
  for (size_t row = 0; row < file.rows().size(); ++row) {
    int64_t begin = file.rows()[row], end = row + 1 < file.rows().size() ? file.rows()[row + 1] : file.size();
    for (int64_t at = begin; at == begin || at + 1 < end; at += sequence)
      source.rows.emplace_back(at, std::min(size, end - at));
  }
  return int64_t(source.rows.size());
}

Status TokenData::openFiles() {
  for (const std::string &path : options.sources) {
    auto source = std::make_unique<Source>();
    TokenFile &file = source->file;
    PAR_TRY(file.open(path, options.type, vocabulary, options.tokenizer));
    if (file.size() == 0)
      return Status::error(file.path() + ": has no tokens; give a file that has some");
    PAR_TRY(checkDocuments(file));
    hasMasks |= file.hasMask() || file.size() <= sequence;
    windows += findWindows(*source);
    source->end = windows;
    sources.push_back(std::move(source));
  }
  return {};
}

std::string TokenData::typeNames() const {
  std::vector<std::string> names;
  for (const auto &source : sources)
    if (std::find(names.begin(), names.end(), source->file.typeName()) == names.end())
      names.push_back(source->file.typeName());
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : " and ") + name;
  return text;
}

TokenData::Place TokenData::placeOf(int64_t number) const {
  int64_t window = windowAt(number, windows, options.shuffle, seed);
  auto source = std::upper_bound(sources.begin(), sources.end(), window,
                                 [](int64_t number, const auto &one) { return number < one->end; });
  window -= source == sources.begin() ? 0 : source[-1]->end;
  const TokenFile &file = (*source)->file;
  if (file.hasRows()) {
    auto [begin, length] = (*source)->rows[size_t(window)];
    return {&file, begin, length};
  }
  int64_t begin = window * (sequence + 1);
  return {&file, begin, std::min(sequence + 1, file.size() - begin)};
}

Status TokenData::checkVocabulary(int64_t count) const {
  auto safe = [&](const auto &source) { return source->file.alwaysBelow(vocabulary); };
  if (random || std::all_of(sources.begin(), sources.end(), safe))
    return {};
  for (int64_t number = 0; number < std::min(count, windows); ++number) {
    Place place = placeOf(number);
    for (int64_t i = place.begin; i < place.begin + place.length; ++i)
      if (int64_t token = place.file->token(i); token < 0 || token >= vocabulary)
        return Status::error(place.file->path() + ": token " + std::to_string(i) + " is " +
                             std::to_string(token) + ", but the model's vocabulary has ids 0 to " +
                             std::to_string(vocabulary - 1) +
                             "; tokenize for this model or give the right --data-dtype");
  }
  return {};
}

void TokenData::window(int64_t number, int32_t *tokens) const {
  int64_t size = sequence + 1;
  if (random) {
    for (int64_t i = 0; i < size; ++i)
      tokens[i] = int32_t(randomToken(seed, uint64_t(number * size + i), vocabulary));
    return;
  }
  Place place = placeOf(number);
  for (int64_t i = 0; i < size; ++i)
    tokens[i] = i < place.length ? int32_t(place.file->token(place.begin + i)) : paddingToken;
}

bool TokenData::beginsDocument(const Place &place, int64_t offset, int32_t before) const {
  const std::optional<TokenDescription> &said = place.file->description();
  int64_t end = options.documentEnd < 0 && said ? said->endToken : options.documentEnd;
  return before == end || place.file->beginsDocument(place.begin + offset);
}

/// Target `offset` - 1 of a window is the token at `offset`.
bool TokenData::isNoTarget(const Place &place, int64_t offset, int32_t before) const {
  return offset >= place.length || place.file->isMasked(place.begin + offset) ||
         (options.findsDocuments() && beginsDocument(place, offset, before));
}

void TokenData::maskTargets(int64_t number, const int32_t *tokens, int32_t *targets) const {
  if (!options.findsDocuments() && !hasMasks)
    return;
  Place place = placeOf(number);
  for (int64_t i = 0; i < sequence; ++i)
    if (isNoTarget(place, i + 1, tokens[i]))
      targets[i] = ignoredTarget;
}

void TokenData::findDocuments(int64_t number, const int32_t *tokens, int32_t *positions,
                              int32_t *documents) const {
  bool isolates = options.documents == Documents::isolate && !random;
  Place place = isolates ? placeOf(number) : Place{};
  int32_t position = 0, document = 0;
  for (int64_t i = 0; i < sequence; ++i, ++position) {
    if (isolates && i > 0 && i < place.length && beginsDocument(place, i, tokens[i - 1]))
      position = 0, ++document;
    positions[i] = position, documents[i] = document;
  }
}

int64_t TokenData::countTargets(int64_t first, int64_t count) const {
  int64_t total = count * sequence;
  if (!options.findsDocuments() && !hasMasks)
    return total;
  for (int64_t number = first; number < first + count; ++number) {
    Place place = placeOf(number);
    int64_t inside = std::min(sequence, place.length - 1);
    total -= sequence - inside;
    for (int64_t i = 0; i < inside; ++i)
      total -= isNoTarget(place, i + 1, int32_t(place.file->token(place.begin + i)));
  }
  return total;
}

/// "; its conversations have the roles "gpt" and "human"", of what par-data counted.
static std::string describeRoles(const TokenFile &file) {
  std::string text;
  if (file.description())
    for (const auto &[role, count] : file.description()->roles)
      text += (text.empty() ? " (its conversations have the roles \"" : "\", \"") + role;
  return text.empty() ? "" : text + "\")";
}

/// In most data the first window has one.
Status TokenData::checkTargets(int64_t first, int64_t count) const {
  if (random || count == 0)
    return {};
  for (const auto &source : sources)
    if (source->file.description() && source->file.description()->targets == 0)
      return Status::error(source->file.path() + ": no token is a target, as " +
                           descriptionFile(source->file.path()) + " says" + describeRoles(source->file) +
                           "; give data with some");
  bool isPass = count >= windows;
  for (int64_t window = first, end = first + std::min(count, windows); window < end; ++window)
    if (countTargets(window, 1) > 0)
      return {};
  return Status::error(sources.front()->file.path() + ": no token is a target " +
                       (isPass ? "(all are masked, or too few to have one)"
                               : "of the " + std::to_string(count) + " windows that are used") +
                       ", so there is nothing to learn or to evaluate; give data with some");
}

std::string TokenData::summary() const {
  constexpr int64_t first = 16, spread = 64;
  if (random)
    return "random tokens";
  Sha256 hash;
  for (const auto &source : sources) {
    std::string index = source->file.indexHash();
    hash.update(index.data(), index.size());
  }
  std::vector<int32_t> tokens(size_t(sequence + 1)), targets(size_t(sequence), 0);
  for (int64_t i = 0; i < first + spread; ++i) {
    int64_t number = i < first ? i % windows : (windows - 1) * (i - first) / (spread - 1);
    window(number, tokens.data());
    std::fill(targets.begin(), targets.end(), 0);
    maskTargets(number, tokens.data(), targets.data());
    hash.update(tokens.data(), tokens.size() * sizeof(int32_t));
    hash.update(targets.data(), targets.size() * sizeof(int32_t));
  }
  return std::to_string(windows) + " windows with hash " + hash.finish().substr(0, 16);
}

} // namespace par::io
