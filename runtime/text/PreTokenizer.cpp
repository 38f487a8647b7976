#include "text/PreTokenizer.h"

#include "text/Normalizer.h"

namespace par::text {

std::string Metaspace::apply(std::string_view text, bool begins) const {
  std::string marked = replaceAll(text, " ", spaceMark);
  bool wanted = prepend == Prepend::always || (prepend == Prepend::first && begins);
  if (wanted && marked.rfind(spaceMark, 0) != 0)
    marked.insert(0, spaceMark);
  return marked;
}

size_t endOfMarkedWord(std::string_view text, size_t at, MarkedWords words) {
  auto isMark = [&](size_t i) { return text.compare(i, spaceMark.size(), spaceMark) == 0; };
  size_t end = at;
  if (words == MarkedWords::each)
    end += isMark(at) ? spaceMark.size() : 1;
  else
    while (end < text.size() && isMark(end))
      end += spaceMark.size();
  return std::min(text.find(spaceMark, end), text.size());
}

WordSplitter::WordSplitter(const PreTokenizer &preTokenizer) : markedWords(preTokenizer.markedWords) {
  for (const Split &split : preTokenizer.splits) {
    matchers.emplace_back(split.regex);
    dropGaps.push_back(split.dropGaps);
  }
}

} // namespace par::text
