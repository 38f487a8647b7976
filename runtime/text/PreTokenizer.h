/// From text to words, within which merges happen.
#ifndef PAR_TEXT_PRETOKENIZER_H
#define PAR_TEXT_PRETOKENIZER_H

#include "text/Regex.h"

#include <vector>

namespace par::text {

/// One splitting step.
struct Split {
  Regex regex;
  bool dropGaps = false; ///< what no match covers is dropped, else it is a piece of its own
};

/// Steps in order; each splits the pieces of the one before.
struct PreTokenizer {
  std::vector<Split> splits;
  bool addPrefixSpace = false; ///< a text that begins with no space gets one
};

/// Runs the steps piece by piece, so that no list of words ever exists. Used by one thread.
class WordSplitter {
public:
  explicit WordSplitter(const PreTokenizer &preTokenizer);

  /// Calls visit(word), which returns a Status, for every word of `text` in order.
  template <typename Visit>
  io::Status forEachWord(std::string_view text, Visit &&visit) {
    return step(0, text, visit);
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
};

} // namespace par::text
#endif
