#include "flags/Flags.h"
#include "par/config/HelpText.h"

namespace par::flags {

std::string Flags::helpText() const {
  config::HelpPage page{overview, usage, {}, {}, mostUsed};
  if (positional)
    page.operands.push_back({positional->value, "", positional->help, ""});
  for (const Flag &flag : flags)
    if (!flag.isSpelt("--config")) // which all tools have
      page.flags.push_back(
          {flag.spellings, flag.value, flag.help + (flag.isRequired ? " (required)" : ""), flag.section});
  return config::printHelp(page, config::helpColumns());
}

} // namespace par::flags
