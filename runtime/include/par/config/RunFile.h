/// Flags of a tool in a file: `--config run.toml`.
#ifndef PAR_CONFIG_RUNFILE_H
#define PAR_CONFIG_RUNFILE_H

#include "par/config/Toml.h"
#include "par/config/UnknownFlag.h"

namespace par::config {

/// What stands for `--config` in every tool's help.
extern const char *const configHelp;

/// What a file says of one flag.
struct Setting {
  std::string name;  ///< the flag's, without dashes
  std::string place; ///< "run.toml:3", for errors
  Value value;
};

/// The settings of `tool`: those above all headings and those below its own. Other tools' are left alone; a
/// heading that names no tool, and a flag that is set above and below, are errors.
io::Status readSettings(const std::string &path, const std::string &tool, std::vector<Setting> &settings);

/// What a flag takes.
struct Takes {
  /// scalar: text or a number. optional: the same, or true or false.
  enum Form { toggle, text, integer, number, scalar, optional } form = scalar;
  bool many = false; ///< also a list
  std::string what;  ///< as `--help` has it: "FILE"
};

/// The values as the command line would have them ("true" for a toggle that is on, none for one that is off).
/// Error if the value has another type.
io::Status toArguments(const Setting &setting, const Takes &takes, std::vector<std::string> &arguments);

/// A key that is no flag of the tool, or one that only the command line has.
io::Status refuseKey(const Setting &setting, const KnownFlags &known);

} // namespace par::config
#endif
