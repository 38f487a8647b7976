//===- Flags.h - a command line with one clear error ------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_FLAGS_H
#define PAR_SUPPORT_FLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace mlir::par {

/// Flags as `--name value` or `--name=value`, `-x value` for names of one letter, and positional arguments.
/// (llvm::cl writes some of its errors straight to stderr, not as one `error:` line.)
class Flags {
public:
  Flags(std::string usage, std::string overview) : usage(std::move(usage)), overview(std::move(overview)) {}

  /// An empty value is refused here and in `list`: it is what an unset variable of a shell leaves.
  void text(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help, std::string &target);
  void list(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
            std::vector<std::string> &target);
  void integer(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
               std::function<void(int64_t)> set);
  /// A size of memory (Bytes.h), or 0.
  void bytes(llvm::StringRef name, llvm::StringRef help, std::function<void(int64_t)> set);
  /// A finite number that is at least `least`.
  void number(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help, double &target,
              double least = 0.0);
  /// One of `choices`.
  void choice(llvm::StringRef name, std::vector<std::string> choices, llvm::StringRef help,
              std::string &target);
  void toggle(llvm::StringRef name, llvm::StringRef help, bool &target);
  void positional(std::string &target) { operand = &target; }

  /// Sets `helpWanted` at `--help`. Fails for an unknown flag, a missing or wrong value and a second operand.
  llvm::Error parse(llvm::ArrayRef<const char *> arguments);
  bool isHelpWanted() const { return helpWanted; }
  /// Names of the flags that the command line has, whatever their values.
  const std::set<std::string> &getGiven() const { return given; }
  void printHelp(llvm::raw_ostream &os) const;

private:
  struct Flag {
    std::string name;
    /// Empty: the flag takes none.
    std::string value;
    std::string help;
    std::function<llvm::Error(llvm::StringRef)> set;
    /// With its dashes.
    std::string spelling() const { return (name.size() == 1 ? "-" : "--") + name; }
  };
  const Flag *find(llvm::StringRef spelling) const;
  llvm::Error unknown(llvm::StringRef spelling) const;
  llvm::Error takeOperand(llvm::StringRef text);

  std::string usage, overview;
  std::vector<Flag> flags;
  std::set<std::string> given;
  std::string *operand = nullptr;
  bool operandSeen = false;
  bool helpWanted = false;
};

} // namespace mlir::par

#endif // PAR_SUPPORT_FLAGS_H
