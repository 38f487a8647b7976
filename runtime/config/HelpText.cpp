#include "par/config/HelpText.h"

#include "par/config/RunFile.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace par::config {

/// Narrower lines hold too few words.
static constexpr size_t leastColumns = 40;

size_t helpColumns() {
  constexpr size_t usual = 80, most = 120; // longer lines are hard to follow
  const char *said = std::getenv("COLUMNS");
  size_t columns = 0;
  if (said && std::from_chars(said, said + std::strlen(said), columns).ec == std::errc() && columns > 0)
    return std::max(columns, leastColumns);
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return usual;
  return std::clamp<size_t>(size.ws_col, leastColumns, most);
}

namespace {
/// Words in lines. The first one begins where text is already, the others are indented.
class Lines {
public:
  Lines(size_t columns, size_t begin, size_t indent) : columns(columns), indent(indent), used(begin) {}

  void add(std::string word) {
    if (!isEmpty && used + 1 + word.size() > columns)
      breakLine();
    while (used + word.size() > columns) {
      size_t sign = word.find_last_of("|,/", columns - used - 1);
      if (sign == std::string::npos)
        break;
      append(word.substr(0, sign + 1));
      word.erase(0, sign + 1);
      breakLine();
    }
    append(word);
  }
  std::string take() { return std::move(text); }

private:
  void append(const std::string &word) {
    text += (isEmpty ? "" : " ") + word;
    used += word.size() + (isEmpty ? 0 : 1);
    isEmpty = false;
  }
  void breakLine() {
    text += "\n" + std::string(indent, ' ');
    used = indent;
    isEmpty = true;
  }

  size_t columns, indent, used;
  bool isEmpty = true; ///< the line that is open
  std::string text;
};
} // namespace

static std::string wrap(const std::string &text, size_t columns, size_t begin, size_t indent) {
  Lines lines(columns, begin, indent);
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find(' ', at), text.size());
    lines.add(text.substr(at, end - at));
  }
  return lines.take();
}

static std::string printUsage(const std::string &usage, size_t columns) {
  static const std::string title = "usage: ", between = " | ";
  std::string text;
  for (size_t at = 0, end; at < usage.size(); at = end + between.size()) {
    end = std::min(usage.find(between, at), usage.size());
    text += (at ? std::string(title.size(), ' ') : title) +
            wrap(usage.substr(at, end - at), columns, title.size(), title.size()) + "\n";
  }
  return text;
}

static std::string printEntry(const HelpEntry &entry, size_t columns) {
  constexpr size_t margin = 2, gap = 2;
  size_t indent = std::min<size_t>(26, columns / 3);
  std::string head = entry.spellings + (entry.value.empty() ? "" : " " + entry.value);
  bool isBeside = margin + head.size() + gap <= indent;
  std::string text = std::string(margin, ' ') + wrap(head, columns, margin, 3 * margin);
  text += isBeside ? std::string(indent - margin - head.size(), ' ') : "\n" + std::string(indent, ' ');
  return text + wrap(entry.help, columns, indent, indent) + "\n";
}

/// By any of its spellings, or none.
static const HelpEntry *find(const HelpPage &page, const std::string &spelling) {
  for (const HelpEntry &flag : page.flags)
    if (("," + flag.spellings + ",").find("," + spelling + ",") != std::string::npos)
      return &flag;
  return nullptr;
}

/// The flags that matter most, as far as there are such.
static std::vector<const HelpEntry *> findFirst(const HelpPage &page) {
  std::vector<const HelpEntry *> first;
  for (const std::string &spelling : page.first)
    if (const HelpEntry *flag = find(page, spelling))
      first.push_back(flag);
  return first;
}

/// Those of all tools.
static std::vector<HelpEntry> listCommon() {
  std::string section = "Of all tools";
  return {{"--config", "FILE.toml", configHelp, section},
          {"-h,--help", "", "prints this", section},
          {"--version", "", "prints the version", section}};
}

std::string printHelp(const HelpPage &page, size_t columns) {
  std::string text = wrap(page.overview, columns, 0, 0) + "\n\n" + printUsage(page.usage, columns), section;
  bool isOpen = false; // else a blank line comes next
  auto print = [&](const HelpEntry &entry, const std::string &title) {
    if (!isOpen || title != section)
      text += "\n" + (title.empty() ? "" : wrap(title, columns, 0, 0) + ":\n");
    isOpen = true, section = title;
    text += printEntry(entry, columns);
  };
  for (const HelpEntry &operand : page.operands)
    print(operand, "");
  std::vector<const HelpEntry *> first = findFirst(page);
  for (const HelpEntry *flag : first)
    print(*flag, "Most used");
  for (const HelpEntry &flag : page.flags)
    if (std::find(first.begin(), first.end(), &flag) == first.end())
      print(flag, flag.section);
  for (const HelpEntry &flag : listCommon())
    print(flag, flag.section);
  return text;
}

} // namespace par::config
