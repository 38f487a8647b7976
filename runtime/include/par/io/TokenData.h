/// Training data as an endless sequence of windows of tokens (tools' contract, item 2).
#ifndef PAR_IO_TOKENDATA_H
#define PAR_IO_TOKENDATA_H

#include "par/io/TokenFile.h"

#include <memory>

namespace par::io {

/// A target that counts for nothing.
constexpr int32_t ignoredTarget = -100;
/// Behind the end of a short window. No token that counts sees it, and it is no target.
constexpr int32_t paddingToken = 0;

/// Windows may do this at the ends of documents.
enum class Documents {
  pack,    ///< they run over them
  mask,    ///< the first token of a document is no target
  isolate, ///< the same, and tokens do not see other documents (the package is compiled so)
};

struct DataOptions {
  std::vector<std::string> sources = {"random"}; ///< files, or "random" alone
  TokenType type = TokenType::automatic;
  bool shuffle = false;
  Documents documents = Documents::pack;
  int64_t documentEnd = -1;      ///< a token after which a document begins, for files that do not say it
  std::string tokenizer;         ///< the model's, where it is known
  std::vector<std::string> rows; ///< safetensors files, of inputs with names of a graph's own (RowData.h)

  bool isGiven() const { return !sources.empty() || !rows.empty(); }
  bool findsDocuments() const { return documents != Documents::pack; }
  bool isRandom() const { return !sources.empty() && sources.front() == "random"; }
};

/// A file that --data names: of rows where its name ends with .safetensors, else of tokens.
void addDataFile(const std::string &path, DataOptions &data);

/// Window i of a file = tokens i·(seq+1) … of it: its input is the first `seq` of them, its target the last
/// `seq`. The windows of several files follow each other; no window spans two files. After the last one,
/// window 0 follows; with `shuffle` every pass has an order of its own, which depends on the seed only.
/// Random data never repeats.
class TokenData {
public:
  /// Every file must hold a token at least.
  Status open(const DataOptions &options, int64_t sequence, uint32_t vocabulary, uint64_t seed);
  Status open(const std::string &source, TokenType type, int64_t sequence, uint32_t vocabulary,
              uint64_t seed);

  /// Checks that every token of windows 0 … count-1 is one of the vocabulary.
  Status checkVocabulary(int64_t count) const;

  /// Writes the sequence + 1 tokens of a window.
  void window(int64_t number, int32_t *tokens) const;

  /// Marks the targets of a window that count for nothing: `tokens` as `window` wrote it, `targets` its last
  /// `sequence`.
  void maskTargets(int64_t number, const int32_t *tokens, int32_t *targets) const;
  /// Finds the place of each of a window's first `sequence` tokens in its document, and that document's
  /// number, both from 0: a window begins one. `tokens` as `window` wrote it. All are of one unless documents
  /// are isolated.
  void findDocuments(int64_t number, const int32_t *tokens, int32_t *positions, int32_t *documents) const;
  /// Targets of windows first … first+count-1 that count.
  int64_t countTargets(int64_t first, int64_t count) const;
  /// Fails where none of these windows (of a pass, where they are more) has one: nothing would be learnt.
  Status checkTargets(int64_t first, int64_t count) const;

  /// How tokens are stored, by the files' first occurrence: "uint16 and uint8"; nothing for random data.
  std::string typeNames() const;
  /// What tells these data from others, in one line: windows, and a hash of the files' indices, of the first
  /// windows and of some from everywhere.
  std::string summary() const;

  /// Windows of all files, 0 for random data.
  int64_t windowCount() const { return windows; }

private:
  struct Place {
    const TokenFile *file;
    int64_t begin;  ///< position of the window's first token
    int64_t length; ///< tokens of the window that the file has
  };
  /// A file, and where its windows are.
  struct Source {
    TokenFile file;
    std::vector<std::pair<int64_t, int64_t>> rows; ///< begin and length of each window, of a file of rows
    int64_t end = 0;                               ///< windows of the files up to and with this one
  };
  Status openFiles();
  Status checkDocuments(const TokenFile &file) const;
  int64_t findWindows(Source &source) const;
  Place placeOf(int64_t number) const;
  bool beginsDocument(const Place &place, int64_t offset, int32_t before) const;
  bool isNoTarget(const Place &place, int64_t offset, int32_t before) const;

  DataOptions options;
  std::vector<std::unique_ptr<Source>> sources;
  int64_t windows = 0, sequence = 0;
  uint32_t vocabulary = 0;
  uint64_t seed = 0;
  bool random = false;
  bool hasMasks = false; ///< some file has, or a window is short
};

/// Element `position` of a permutation of 0 … count-1 that depends on the key.
int64_t permuted(int64_t position, int64_t count, uint64_t key);

/// Which of `count` windows comes as window `number`: passes over all follow each other, each one in an order
/// of its own with `shuffle`.
int64_t windowAt(int64_t number, int64_t count, bool shuffle, uint64_t seed);

} // namespace par::io
#endif
