/// The page that `--help` shows, the same way in every tool.
#ifndef PAR_CONFIG_HELPTEXT_H
#define PAR_CONFIG_HELPTEXT_H

#include <cstddef>
#include <string>
#include <vector>

namespace par::config {

/// A flag, or what is given by its place.
struct HelpEntry {
  std::string spellings; ///< "--steps" or "-o,--output"
  std::string value;     ///< empty where it takes none
  std::string help;
  std::string section; ///< the title below which it is listed, perhaps none
};

struct HelpPage {
  std::string overview;
  std::string usage;               ///< several with " | " between them
  std::vector<HelpEntry> operands; ///< what the tool works on
  std::vector<HelpEntry> flags;    ///< but for those of all tools, in the order of their sections
  std::vector<std::string> first;  ///< flags that matter most: their section comes first, and lists them so
};

/// Columns of a line: what the variable COLUMNS says, else those of the terminal that standard output is, at
/// most 120, else 80.
size_t helpColumns();

/// The page in lines of at most so many columns: flags on the left, what they mean on the right, further
/// lines indented. A word is cut only where it is longer than a line, behind one of "|,/".
std::string printHelp(const HelpPage &page, size_t columns);

} // namespace par::config
#endif
