#include "par/io/TokenData.h"

#include "par/io/Philox.h"
#include "par/io/Sha256.h"

#include <algorithm>

namespace par::io {

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
  if (options.shuffle || options.maskDocuments)
    return Status::error("data random: has neither an order nor documents; leave " +
                         std::string(options.shuffle ? "--shuffle" : "--documents mask") + " out");
  return {};
}

Status TokenData::openFiles() {
  for (const std::string &source : options.sources) {
    auto file = std::make_unique<TokenFile>();
    PAR_TRY(file->open(source, options.type, vocabulary, options.tokenizer));
    int64_t count = file->size() / (sequence + 1);
    if (count == 0)
      return Status::error(file->path() + ": has " + std::to_string(file->size()) +
                           " tokens, but one window of seq + 1 needs " + std::to_string(sequence + 1) +
                           "; give a longer file or compile with a smaller --seq");
    if (options.maskDocuments && !file->knowsDocuments() && options.documentEnd < 0)
      return Status::error(file->path() +
                           ": does not say where its documents begin, which --documents mask needs; give "
                           "--document-end ID or a Megatron .bin with its .idx");
    hasMasks |= file->hasMask();
    windows += count;
    ends.push_back(windows);
    files.push_back(std::move(file));
  }
  return {};
}

std::string TokenData::typeNames() const {
  std::vector<std::string> names;
  for (const auto &file : files)
    if (std::find(names.begin(), names.end(), file->typeName()) == names.end())
      names.push_back(file->typeName());
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : " and ") + name;
  return text;
}

TokenData::Place TokenData::placeOf(int64_t number) const {
  int64_t pass = number / windows, window = number % windows;
  if (options.shuffle)
    window = permuted(window, windows, splitmix64((seed ^ fnv1a64("shuffle")) + uint64_t(pass)));
  size_t file = size_t(std::upper_bound(ends.begin(), ends.end(), window) - ends.begin());
  int64_t before = file ? ends[file - 1] : 0;
  return {files[file].get(), (window - before) * (sequence + 1)};
}

Status TokenData::checkVocabulary(int64_t count) const {
  auto safe = [&](const auto &file) { return file->alwaysBelow(vocabulary); };
  if (random || std::all_of(files.begin(), files.end(), safe))
    return {};
  for (int64_t number = 0; number < std::min(count, windows); ++number) {
    Place place = placeOf(number);
    for (int64_t i = place.begin; i <= place.begin + sequence; ++i)
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
    tokens[i] = int32_t(place.file->token(place.begin + i));
}

bool TokenData::beginsDocument(const Place &place, int64_t offset, int32_t before) const {
  return before == options.documentEnd || place.file->beginsDocument(place.begin + offset);
}

/// Target `offset` - 1 of a window is the token at `offset`.
bool TokenData::isNoTarget(const Place &place, int64_t offset, int32_t before) const {
  return place.file->isMasked(place.begin + offset) ||
         (options.maskDocuments && beginsDocument(place, offset, before));
}

void TokenData::maskTargets(int64_t number, const int32_t *tokens, int32_t *targets) const {
  if (!options.maskDocuments && !hasMasks)
    return;
  Place place = placeOf(number);
  for (int64_t i = 0; i < sequence; ++i)
    if (isNoTarget(place, i + 1, tokens[i]))
      targets[i] = ignoredTarget;
}

int64_t TokenData::countTargets(int64_t first, int64_t count) const {
  int64_t total = count * sequence;
  if (!options.maskDocuments && !hasMasks)
    return total;
  for (int64_t number = first; number < first + count; ++number) {
    Place place = placeOf(number);
    for (int64_t i = 0; i < sequence; ++i)
      total -= isNoTarget(place, i + 1, int32_t(place.file->token(place.begin + i)));
  }
  return total;
}

std::string TokenData::summary() const {
  constexpr int64_t first = 16, spread = 64;
  if (random)
    return "random tokens";
  Sha256 hash;
  for (const auto &file : files) {
    std::string index = file->indexHash();
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
