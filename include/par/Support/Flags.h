//===- Flags.h - a command line with one clear error ------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_FLAGS_H
#define PAR_SUPPORT_FLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mlir::par {

/// Which numbers a flag takes. NaN and infinities are none.
struct NumberRange {
  double least = 0.0;
  bool leastIncluded = true;
  double below = std::numeric_limits<double>::infinity();
};

/// Flags as `--name value` or `--name=value`, `-x value` for names of one letter, and positional arguments.
/// Every tool has `--help` and `--version` as well, and `--config FILE`, a file of flags that counts where
/// the command line is silent. A flag that is given twice is refused, unless it is a list. (llvm::cl writes
/// some of its errors straight to stderr, not as one `error:` line.)
class Flags {
public:
  /// `usage` begins with the tool's name.
  Flags(std::string usage, std::string overview) : usage(std::move(usage)), overview(std::move(overview)) {}

  /// Flags that are declared from here on are listed below that title.
  void section(llvm::StringRef title) { openSection = title.str(); }

  /// The few flags that matter most, in that order: `--help` begins with them.
  void first(std::vector<std::string> names) { mostUsed = std::move(names); }

  /// An empty value is refused here and in `list`: it is what an unset variable of a shell leaves.
  void text(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help, std::string &target);
  /// The error of `parse` says what is wrong with the text, and follows the flag's name.
  void parsed(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
              std::function<llvm::Error(llvm::StringRef)> parse);
  void list(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
            std::vector<std::string> &target);
  /// At least `least`, which callers leave out who know more of the range.
  void integer(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
               std::function<void(int64_t)> set, int64_t least = std::numeric_limits<int64_t>::min());
  /// A size of memory (Bytes.h), or 0.
  void bytes(llvm::StringRef name, llvm::StringRef help, std::function<void(int64_t)> set);
  void number(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help, double &target,
              NumberRange range = {});
  /// One of `choices`.
  void choice(llvm::StringRef name, std::vector<std::string> choices, llvm::StringRef help,
              std::string &target);
  void choice(llvm::StringRef name, std::vector<std::string> choices, llvm::StringRef help,
              std::function<void(llvm::StringRef)> set);
  void toggle(llvm::StringRef name, llvm::StringRef help, bool &target);
  /// The next argument without dashes.
  void positional(std::string &target) { operands.push_back(&target); }
  /// Flags whose values are files (or folders) that the tool reads, or files that it writes. The positional
  /// argument and `--config` are read, too. A file that is both, or written twice, is refused.
  void files(llvm::ArrayRef<llvm::StringRef> read, llvm::ArrayRef<llvm::StringRef> written);
  /// Flags of another tool: `why` says which, in place of "unknown".
  void elsewhere(llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef why);

  /// As if the command line had it, for a value that comes from elsewhere. The error begins with the flag.
  llvm::Error set(llvm::StringRef name, llvm::StringRef value);

  /// Reads the command line of `main`. The exit status if there is nothing left to do: after `--help` and
  /// `--version`, and after the line of an error.
  std::optional<int> take(int argc, const char *const *argv);
  /// Names of the flags that the command line or its file has, whatever their values.
  const std::set<std::string> &getGiven() const { return given; }

private:
  /// What a file of flags has for a flag; Scalar: text or a number.
  enum class Form { Toggle, Text, Integer, Number, Scalar };
  struct Flag {
    std::string name;
    /// Empty: the flag takes none.
    std::string value;
    std::string help;
    std::function<llvm::Error(llvm::StringRef)> set;
    bool isList = false;
    Form form = Form::Text;
    std::string section = {};
    /// With its dashes.
    std::string spelling() const { return (name.size() == 1 ? "-" : "--") + name; }
  };
  Flag &add(Flag flag);
  llvm::Error parse(llvm::ArrayRef<const char *> arguments);
  llvm::Error parseFlag(llvm::ArrayRef<const char *> arguments, size_t &at);
  const Flag *find(llvm::StringRef spelling) const;
  /// `value`: what stands behind it.
  llvm::Error unknown(llvm::StringRef spelling, llvm::StringRef value) const;
  llvm::Error takeOperand(llvm::StringRef text);
  llvm::StringRef toolName() const { return llvm::StringRef(usage).split(' ').first; }
  llvm::Error setValue(const Flag &flag, llvm::StringRef value);
  llvm::Error checkFiles() const;
  void describeFile();
  llvm::Error takeFile();
  struct FileTaker;
  struct Description;

  void printHelp(llvm::raw_ostream &os) const;

  std::string usage, overview, configFile, openSection;
  std::vector<std::string> mostUsed; ///< names
  std::vector<Flag> flags;
  std::set<std::string> given;
  std::map<std::string, std::string> foreign;                 ///< spelling to what is said of it
  std::multimap<std::string, std::string> values;             ///< by name, as they were written
  std::set<std::string> readFiles = {"config"}, writtenFiles; ///< names of flags
  std::vector<std::string *> operands;
  size_t operandsSeen = 0;
  bool helpWanted = false, versionWanted = false;
};

} // namespace mlir::par

#endif // PAR_SUPPORT_FLAGS_H
