#include "text/PreTokenizer.h"

namespace par::text {

WordSplitter::WordSplitter(const PreTokenizer &preTokenizer) {
  for (const Split &split : preTokenizer.splits) {
    matchers.emplace_back(split.regex);
    dropGaps.push_back(split.dropGaps);
  }
}

} // namespace par::text
