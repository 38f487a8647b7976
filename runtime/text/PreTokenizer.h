/// From text to words, within which merges happen.
#ifndef PAR_TEXT_PRETOKENIZER_H
#define PAR_TEXT_PRETOKENIZER_H

#include "text/Regex.h"

#include <optional>
#include <vector>

namespace par::text {

/// One splitting step.
struct Split {
  Regex regex;
  bool dropGaps = false; ///< what no match covers is dropped, else it is a piece of its own
};

/// SentencePiece's mark, which stands for a space and begins words.
inline constexpr std::string_view spaceMark = "\u2581";

/// Hugging Face's `Metaspace`: marks in place of spaces, and one before texts that begin with none.
struct Metaspace {
  enum class Prepend { never, first, always } prepend = Prepend::always;
  /// `begins`: nothing, no added token either, stands before the text.
  std::string apply(std::string_view text, bool begins) const;
};

/// Where words begin in text with marks.
enum class MarkedWords {
  none, ///< the text is one word
  runs, ///< at every mark that follows something else
  each  ///< at every mark
};

/// Steps in order; each splits the pieces of the one before.
struct PreTokenizer {
  std::vector<Split> splits;
  bool addPrefixSpace = false; ///< a text that begins with no space gets one
  std::optional<Metaspace> metaspace;
  MarkedWords markedWords = MarkedWords::none;
};

/// Where the word ends that begins at `at`.
size_t endOfMarkedWord(std::string_view text, size_t at, MarkedWords words);

/// Runs the steps piece by piece, so that no list of words ever exists. Used by one thread.
class WordSplitter {
public:
  explicit WordSplitter(const PreTokenizer &preTokenizer);

  /// Calls visit(word), which returns a Status, for every word of `text` in order.
  template <typename Visit>
  io::Status forEachWord(std::string_view text, Visit &&visit) {
    if (markedWords == MarkedWords::none)
      return step(0, text, visit);
    for (size_t at = 0, end; at < text.size(); at = end) {
      end = endOfMarkedWord(text, at, markedWords);
      PAR_TRY(visit(text.substr(at, end - at)));
    }
    return {};
  }

private:
  template <typename Visit>
  io::Status step(size_t number, std::string_view text, Visit &visit) {
    if (number == matchers.size())
      return visit(text);
    for (size_t at = 0; at < text.size();) {
      size_t begin, end;
      PAR_TRY(matchers[number].find(text, at, begin, end));
      if (begin > at && !dropGaps[number])
        PAR_TRY(step(number + 1, text.substr(at, begin - at), visit));
      if (end > begin)
        PAR_TRY(step(number + 1, text.substr(begin, end - begin), visit));
      at = end;
    }
    return {};
  }

  std::vector<Matcher> matchers;
  std::vector<bool> dropGaps;
  MarkedWords markedWords;
};

} // namespace par::text
#endif
