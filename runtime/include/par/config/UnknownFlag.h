/// The answer of a tool to a flag that it has not.
#ifndef PAR_CONFIG_UNKNOWNFLAG_H
#define PAR_CONFIG_UNKNOWNFLAG_H

#include <map>
#include <string>
#include <vector>

namespace par::config {

/// A flag of the command line, or a key of a file of flags with dashes before it.
struct UnknownFlag {
  std::string spelling;
  std::string value; ///< what stands behind it, or nothing
};

/// The flags of a tool.
struct KnownFlags {
  std::string tool;
  std::vector<std::string> spellings;
  std::map<std::string, std::string> remedies; ///< flags that it has not, and what it says of them
};

/// One of `meant`, `remedy` or neither is there.
struct Suggestion {
  std::string meant;  ///< a flag of the tool whose name is nearly that
  std::string remedy; ///< another text: ": par-compile takes it", "; did you mean --mesh tp=2?"
};

/// Suggests what to write in place of the flag. Names that other trainers have (ForeignFlags.def) count for
/// more than letters that are alike.
Suggestion suggestFlag(const UnknownFlag &flag, const KnownFlags &known);

/// The whole line: "unknown flag --tp; did you mean --mesh tp=2?".
std::string refuseFlag(const UnknownFlag &flag, const KnownFlags &known);

} // namespace par::config
#endif
