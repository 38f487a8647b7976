#include "flags/Flags.h"
#include "par/config/HelpText.h"

namespace par::flags {

std::string Flags::helpText() const {
  size_t columns = config::helpColumns();
  auto entry = [&](const std::string &head, const std::string &help) {
    return config::helpEntry(head, help, columns);
  };
  std::string text = config::helpParagraph(overview, columns) + "\n\nusage: " + usage + "\n\n";
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
