#include "generate/AnswerText.h"

#include <algorithm>

namespace par::generating {

std::string_view AnswerText::showTo(size_t end) {
  std::string_view part = std::string_view(whole).substr(shown, end - shown);
  shown = end;
  return part;
}

size_t AnswerText::undecided() const {
  size_t count = stop.empty() ? 0 : std::min(stop.size() - 1, whole.size() - shown);
  while (count > 0 && whole.compare(whole.size() - count, count, stop, 0, count) != 0)
    --count;
  return count;
}

bool AnswerText::add(std::string_view bytes, std::string_view &certain) {
  for (; blanks > 0 && !bytes.empty() && bytes.front() == ' '; --blanks)
    bytes.remove_prefix(1);
  if (!bytes.empty())
    blanks = 0;
  whole += bytes;
  size_t end = stop.empty() ? std::string::npos : whole.find(stop, shown);
  if (end != std::string::npos)
    whole.resize(end);
  certain = showTo(end != std::string::npos ? end : whole.size() - undecided());
  return end == std::string::npos;
}

std::string_view AnswerText::rest() { return showTo(whole.size()); }

} // namespace par::generating
