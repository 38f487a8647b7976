#include "flags/Spelling.h"

#include <algorithm>

namespace par::flags {

/// Letters to insert, remove or replace to make one word of the other (Levenshtein's distance).
static size_t distance(const std::string &from, const std::string &to) {
  std::vector<size_t> row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string closest(const std::string &word, const std::vector<std::string> &known) {
  constexpr size_t tooFar = 3;
  std::string best;
  size_t least = std::min(tooFar, word.size() / 2); // of a short word everything is near
  for (const std::string &candidate : known)
    if (size_t letters = distance(word, candidate); letters < least)
      least = letters, best = candidate;
  return best;
}

} // namespace par::flags
