#include "text/Encoder.h"

#include "text/Utf8.h"

#include <algorithm>

namespace par::text {

/// Tokens not handed over yet, and how far the text has been read.
struct Encoder::Part {
  const Sink &sink;
  std::string_view text;
  std::vector<uint32_t> ids;
  size_t done = 0;

  /// `piece` was read; the normalizer's copies do not lie in the text.
  void read(std::string_view piece) {
    auto begin = reinterpret_cast<uintptr_t>(text.data()), at = reinterpret_cast<uintptr_t>(piece.data());
    if (at >= begin && at - begin <= text.size())
      done = at - begin + piece.size();
  }
};

static constexpr size_t partSize = 1 << 15;
/// Positions within a word have 32 bits.
static constexpr size_t longestWord = size_t(1) << 30;

Encoder::Encoder(const Tokenizer &tokenizer)
    : tokenizer(tokenizer), splitter(tokenizer.preTokenizer), merger(tokenizer.model) {}

io::Status Encoder::flush(Part &part) {
  PAR_TRY(part.sink(part.ids, part.done));
  part.ids.clear();
  return {};
}

io::Status Encoder::word(std::string_view word, Part &part) {
  bool small = word.size() <= WordCache::longestWord;
  if (!small || !cache.append(word, part.ids)) {
    if (word.size() > longestWord)
      return io::Status::error("a word of " + std::to_string(word.size()) +
                               " bytes is too long; the most is " + std::to_string(longestWord));
    size_t before = part.ids.size();
    merger.append(word, part.ids);
    if (small)
      cache.insert(word, part.ids.data() + before, part.ids.size() - before);
  }
  if (part.ids.size() < partSize)
    return {};
  part.read(word);
  return flush(part);
}

/// A text between added tokens, normalized. `begins`: none stands before it.
io::Status Encoder::words(std::string_view text, bool begins, Part &part) {
  std::string spaced;
  if (tokenizer.preTokenizer.metaspace)
    text = spaced = tokenizer.preTokenizer.metaspace->apply(text, begins);
  if (tokenizer.preTokenizer.addPrefixSpace && text[0] != ' ')
    text = spaced.append(1, ' ').append(text);
  return splitter.forEachWord(text, [&](std::string_view piece) { return word(piece, part); });
}

/// Calls between(text, whether it is the beginning) for what lies between the added tokens, and takes these
/// over.
template <typename Between>
io::Status Encoder::splitAt(const AddedTokens &added, std::string_view text, Part &part, Between between) {
  size_t at = 0;
  AddedTokens::Match match;
  for (size_t from = 0; !plain && added.find(text, from, match); from = match.next) {
    size_t begin = match.lstrip ? std::max(match.begin, at) : match.begin;
    if (begin > at)
      PAR_TRY(between(text.substr(at, begin - at), at == 0));
    if (begin < match.end) // else all of it was blanks of the one before
      part.ids.push_back(match.id);
    at = match.end;
  }
  return at < text.size() ? between(text.substr(at), at == 0) : io::Status();
}

io::Status Encoder::normalized(std::string_view text, bool begins, Part &part) {
  std::string storage;
  std::string_view result;
  PAR_TRY(tokenizer.normalizer.run(text, storage, result));
  return splitAt(tokenizer.normalizedTokens, result, part,
                 [&](std::string_view piece, bool isFirst) { return words(piece, begins && isFirst, part); });
}

io::Status Encoder::encode(std::string_view text, const Sink &sink) {
  size_t invalid = findInvalidUtf8(text);
  if (invalid != std::string_view::npos)
    return io::Status::error("byte " + std::to_string(invalid) +
                             " begins no UTF-8 sequence; convert the text to UTF-8");
  Part part{sink, text, {}, 0};
  PAR_TRY(splitAt(tokenizer.exactTokens, text, part,
                  [&](std::string_view piece, bool begins) { return normalized(piece, begins, part); }));
  part.done = text.size();
  return flush(part);
}

io::Status Encoder::encode(std::string_view text, std::vector<uint32_t> &ids) {
  return encode(text, [&](const std::vector<uint32_t> &next, size_t) {
    ids.insert(ids.end(), next.begin(), next.end());
    return io::Status();
  });
}

} // namespace par::text
