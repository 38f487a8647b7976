#include "par/config/HelpText.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace par::config {

size_t helpColumns() {
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return std::clamp<size_t>(size.ws_col == 0 ? 80 : size.ws_col, 60, 120);
}

static std::string spaces(size_t count) { return std::string(count, ' '); }

/// Words in lines of that width; all lines but the first are indented.
static std::string wrap(const std::string &text, size_t width, size_t indent) {
  std::string lines;
  size_t used = 0;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find(' ', at), text.size());
    if (used && used + 1 + (end - at) > width) {
      lines += "\n" + spaces(indent);
      used = 0;
    }
    lines += (used ? " " : "") + text.substr(at, end - at);
    used += (used ? 1 : 0) + (end - at);
  }
  return lines;
}

std::string helpParagraph(const std::string &text, size_t columns) {
  return columns == 0 ? text : wrap(text, columns, 0);
}

std::string helpEntry(const std::string &head, const std::string &help, size_t columns) {
  if (columns == 0)
    return "  " + head + spaces(head.size() < 20 ? 20 - head.size() : 1) + help + "\n";
  constexpr size_t indent = 26;
  std::string gap = head.size() + 4 > indent ? "\n" + spaces(indent) : spaces(indent - 2 - head.size());
  return "  " + head + gap + wrap(help, columns - indent, indent) + "\n";
}

} // namespace par::config
