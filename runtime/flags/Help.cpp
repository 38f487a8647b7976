#include "flags/Flags.h"

namespace par::flags {

/// What is given on the left, what it means on the right.
static std::string entry(const std::string &head, const std::string &help) {
  constexpr size_t column = 20;
  return "  " + head + std::string(head.size() < column ? column - head.size() : 1, ' ') + help + "\n";
}

std::string Flags::helpText() const {
  std::string text = overview + "\n\nusage: " + usage + "\n\n";
  if (positional)
    text += entry(positional->value, positional->help);
  std::string section;
  for (const Flag &flag : flags) {
    if (flag.isSpelt("--config")) // below, with what all tools have
      continue;
    if (flag.section != section)
      text += "\n" + flag.section + ":\n";
    section = flag.section;
    std::string head = flag.spellings + (flag.value.empty() ? "" : " " + flag.value);
    text += entry(head, flag.help + (flag.isRequired ? " (required)" : ""));
  }
  return text + "\n" + entry("--config FILE.toml", config::configHelp) + entry("-h,--help", "prints this") +
         entry("--version", "prints the version");
}

} // namespace par::flags
