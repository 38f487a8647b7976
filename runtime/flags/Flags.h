/// The command line of a tool: what it takes, checked, or one clear error.
#ifndef PAR_FLAGS_FLAGS_H
#define PAR_FLAGS_FLAGS_H

#include "flags/Values.h"
#include "par/config/RunFile.h"
#include "par/config/Spelling.h"
#include "par/io/Status.h"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace par::flags {

/// Takes a value. Returns nothing, or what is wrong with it: "is 'abc', expected …".
using Take = std::function<std::string(const std::string &text)>;

/// One flag. Spellings are "--steps" or "-o,--output".
class Flag {
public:
  Flag(std::string spellings, std::string value, std::string help, std::string section, Take take);
  Flag &required();
  /// It may be given several times; else a second one is refused.
  Flag &repeated();
  /// What a file of flags has for it; else a text or a number.
  Flag &takes(config::Takes::Form form);
  /// Its value is a file (or folder) that the tool reads, or a file that it writes: one that is both is
  /// refused.
  Flag &reads();
  Flag &writes();

private:
  friend class Flags;
  std::string firstSpelling() const { return spellings.substr(0, spellings.find(',')); }
  bool isSpelt(const std::string &text) const;
  std::string spellings, value, help, section;
  Take take;
  config::Takes::Form form = config::Takes::scalar;
  bool isRequired = false, isRepeated = false, isRead = false, isWritten = false;
  std::vector<std::string> given;
  std::string place; ///< where a file says so: "run.toml:3"; empty of what the command line says
};

/// Only the split of the command line into flags, values and operands is CLI11's: what values may be, and all
/// texts, are here. Every flag can be written `--name value` and `--name=value`. Every tool has `--help`,
/// `--version` and `--config FILE`, a file of flags that counts where the command line is silent.
class Flags {
public:
  Flags(std::string tool, std::string usage, std::string overview)
      : tool(std::move(tool)), usage(std::move(usage)), overview(std::move(overview)) {}

  /// Flags declared from here on are listed below that title.
  void section(std::string title) { openSection = std::move(title); }

  Flag &custom(std::string spellings, std::string value, std::string help, Take take);
  Flag &text(std::string spellings, std::string value, std::string help, std::string &target);
  Flag &integer(std::string spellings, std::string value, std::string help, IntegerRange range,
                int64_t &target);
  Flag &number(std::string spellings, std::string value, std::string help, NumberRange range, double &target);
  Flag &toggle(std::string spellings, std::string help, bool &target);
  /// One of several words. Those that mean the same as an earlier one are taken, but not listed.
  template <typename Value>
  Flag &choice(std::string spellings, std::vector<std::pair<std::string, Value>> words, std::string help,
               Value &target);
  /// The few flags that matter most, in that order: `--help` begins with them.
  void first(std::vector<std::string> spellings) { mostUsed = std::move(spellings); }
  /// What is no flag of this tool, and what to do instead.
  void elsewhere(const std::vector<std::string> &spellings, const std::string &remedy);

  /// What the tool works on, by its place.
  void operand(std::string value, std::string help, std::string &target);
  void operands(std::string value, std::string help, std::vector<std::string> &targets);

  /// Reads the command line and prints what was asked for (--help, --version) or, unless `quiet`, the error
  /// line; `findProblem` says what is wrong with values that are fine one by one. Returns the exit code when
  /// there is nothing to run.
  std::optional<int> read(int argc, const char *const *argv, const std::function<std::string()> &findProblem,
                          bool quiet = false);

  /// Whether the command line or its file has the flag, whatever its value.
  bool isGiven(const std::string &spelling) const;
  /// Whether the command line has it, not its file.
  bool isOnCommandLine(const std::string &spelling) const;
  std::vector<std::string> givenFlags() const;

private:
  struct Operand {
    std::string value, help;
    std::string *one = nullptr;
    std::vector<std::string> *all = nullptr;
  };
  /// The command line as it is split.
  struct Split {
    std::vector<std::string> others; ///< in their order: operands, and what is no flag
    bool help = false, version = false;
  };
  io::Status refuseEmptyValues(const std::vector<std::string> &arguments) const;
  io::Status split(const std::vector<std::string> &arguments, Split &result);
  config::KnownFlags knownFlags() const;
  io::Status takeOperands(const std::vector<std::string> &others);
  io::Status takeFlag(Flag &flag);
  io::Status takeFile(const std::string &path);
  io::Status takeSetting(const config::Setting &setting);
  io::Status takeAll(const Split &result);
  io::Status checkFiles() const;
  const Flag *find(const std::string &spelling) const;
  std::string helpText() const;

  std::string configFile;
  std::string tool, usage, overview, openSection;
  std::deque<Flag> flags; // references to elements stay valid
  std::optional<Operand> positional;
  std::vector<std::string> mostUsed;
  std::map<std::string, std::string> remedies; ///< by spelling
};

/// Listed are words whose value no earlier one has: `uint16|uint32` of uint16, u16, uint32, u32.
template <typename Value>
Flag &Flags::choice(std::string spellings, std::vector<std::pair<std::string, Value>> words, std::string help,
                    Value &target) {
  std::string listed;
  std::vector<std::string> known;
  for (size_t i = 0; i < words.size(); ++i) {
    bool repeats = false;
    for (size_t j = 0; j < i; ++j)
      repeats |= words[j].second == words[i].second;
    if (!repeats)
      listed += (listed.empty() ? "" : "|") + words[i].first;
    known.push_back(words[i].first);
  }
  return custom(std::move(spellings), listed, std::move(help),
                [words = std::move(words), listed, known, &target](const std::string &text) {
                  for (const auto &[word, value] : words)
                    if (word == text) {
                      target = value;
                      return std::string();
                    }
                  return isNot(text, listed) + config::suggestWord(text, known);
                })
      .takes(config::Takes::text);
}

} // namespace par::flags
#endif
