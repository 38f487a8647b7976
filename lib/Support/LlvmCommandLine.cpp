//===- LlvmCommandLine.cpp - tools whose flags are LLVM's -------------------------------------------===//
#include "par/Support/LlvmCommandLine.h"
#include "par/Support/ErrorLine.h"
#include "par/Version.h"
#include "par/config/FileUses.h"
#include "par/config/RunFile.h"
#include "par/config/Sources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir::par;
using llvm::cl::Option;
using ::par::config::Setting;
using ::par::config::Takes;

/// For `--help` alone: what it says is taken before the others are parsed.
static llvm::cl::opt<std::string> &configFlag() {
  static llvm::cl::opt<std::string> flag("config", llvm::cl::value_desc("FILE.toml"),
                                         llvm::cl::desc(::par::config::configHelp));
  return flag;
}

LlvmCommandLine::LlvmCommandLine(llvm::StringRef tool, int argc, char **argv)
    : tool(tool), program(argv[0]), arguments(argv + 1, argv + argc) {
  configFlag();
  llvm::cl::SetVersionPrinter([name = tool.str()](llvm::raw_ostream &os) {
    os << name << " " << ::par::getVersion() << "\nLLVM " << LLVM_VERSION_STRING << "\n";
  });
}

//===----------------------------------------------------------------------===//
// Flags in a file
//===----------------------------------------------------------------------===//

/// "name" of "--name=value", and empty of what is no flag.
static llvm::StringRef nameOf(llvm::StringRef argument) {
  return argument.starts_with("-") ? argument.ltrim('-').split('=').first : llvm::StringRef();
}

static std::string spell(llvm::StringRef name) { return ((name.size() == 1 ? "-" : "--") + name).str(); }

static Option *findOption(llvm::StringRef name) {
  return llvm::cl::getRegisteredOptions().lookup(name); // passes have names of their own, and one option
}

/// Those that print something and end, or say where flags are.
static bool isOnlyTyped(llvm::StringRef name) {
  return name.starts_with("help") || name == "h" || name == "version" || name == "config";
}

/// Those of a file, without what is for tests of LLVM itself. The registry has no order.
static ::par::config::KnownFlags getKnown(const std::string &tool) {
  ::par::config::KnownFlags known{tool, {}, {}};
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (!isOnlyTyped(entry.first()) && entry.second->getOptionHiddenFlag() != llvm::cl::ReallyHidden)
      known.spellings.push_back(spell(entry.first()));
  llvm::sort(known.spellings);
  return known;
}

static Takes describe(const Option &option) {
  Takes takes;
  auto value = option.getValueExpectedFlag();
  takes.form = value == llvm::cl::ValueDisallowed ? Takes::toggle
               : value == llvm::cl::ValueOptional ? Takes::optional
                                                  : Takes::scalar;
  takes.many = option.hasArgStr() && option.getNumOccurrencesFlag() != llvm::cl::Optional &&
               option.getNumOccurrencesFlag() != llvm::cl::Required;
  takes.what = option.ValueStr.empty() ? "a value" : option.ValueStr.str();
  return takes;
}

static bool isGiven(const Option *option, const std::vector<std::string> &arguments) {
  return llvm::any_of(arguments, [&](llvm::StringRef argument) {
    llvm::StringRef name = nameOf(argument);
    return !name.empty() && findOption(name) == option;
  });
}

namespace {
/// Turns what a file says into arguments.
struct SettingTaker {
  const std::string &tool;
  const std::vector<std::string> &given;
  std::vector<std::string> taken;

  /// False after an error.
  bool take(const Setting &setting) {
    const Option *option = isOnlyTyped(setting.name) ? nullptr : findOption(setting.name);
    if (!option)
      return check(::par::config::refuseKey(setting, getKnown(tool)));
    std::vector<std::string> values;
    if (!check(::par::config::toArguments(setting, describe(*option), values)))
      return false;
    if (!isGiven(option, given))
      append(setting, *option, std::move(values));
    return true;
  }

private:
  static bool check(const ::par::io::Status &status) {
    if (!status.ok())
      printError(status.message());
    return status.ok();
  }

  void append(const Setting &setting, const Option &option, std::vector<std::string> values) {
    std::string flag = spell(setting.name);
    bool isBoolean = setting.value.kind == ::par::config::Kind::boolean;
    // What is on unless one says otherwise can be turned off; a pass that is off does not run.
    if (isBoolean && option.hasArgStr())
      values = {setting.value.text};
    for (const std::string &value : values)
      taken.push_back(isBoolean && !option.hasArgStr() ? flag : flag + "=" + value);
    ::par::config::noteSource(flag, setting.place);
  }
};
} // namespace

/// Leaves `path` empty where there is no file.
bool LlvmCommandLine::findFile(std::string &path) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (nameOf(arguments[i]) != "config")
      continue;
    llvm::StringRef argument(arguments[i]);
    bool isAttached = argument.contains('=');
    if (!isAttached && i + 1 == arguments.size()) {
      printError("--config needs a value: --config FILE.toml");
      return false;
    }
    if (!path.empty()) {
      printError("--config is given twice; give it once");
      return false;
    }
    path = isAttached ? argument.split('=').second.str() : arguments[++i];
    if (path.empty()) {
      printError("--config is empty, expected FILE.toml; give one or leave the flag out");
      return false;
    }
  }
  return true;
}

bool LlvmCommandLine::readFile() {
  if (!findFile(configFile))
    return false;
  if (configFile.empty())
    return true;
  std::vector<Setting> settings;
  if (::par::io::Status status = ::par::config::readSettings(configFile, tool, settings); !status.ok()) {
    printError(status.message());
    return false;
  }
  SettingTaker taker{tool, arguments, {}};
  for (const Setting &setting : settings)
    if (!taker.take(setting))
      return false;
  arguments.insert(arguments.begin(), taker.taken.begin(), taker.taken.end());
  fileRead = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// One line, without the tool's name before each sentence.
static std::string joinSentences(llvm::StringRef text, llvm::StringRef tool) {
  std::string prefix = (tool + ": ").str(), line;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef sentence : lines) {
    sentence.consume_front(prefix);
    line += (line.empty() ? "" : " ") + sentence.str();
  }
  return line;
}

namespace {
/// LLVM writes what is wrong with a value straight to stderr, not to the stream that it is given.
class StderrCapture {
public:
  StderrCapture() : file(memfd_create("errors", MFD_CLOEXEC)), before(fcntl(2, F_DUPFD_CLOEXEC, 3)) {
    if (file >= 0 && before >= 0)
      dup2(file, 2);
  }
  /// What was written since.
  std::string end() {
    std::string text;
    if (file >= 0 && before >= 0) {
      dup2(before, 2);
      text.resize(static_cast<size_t>(std::max<off_t>(lseek(file, 0, SEEK_END), 0)));
      text.resize(static_cast<size_t>(std::max<ssize_t>(pread(file, text.data(), text.size(), 0), 0)));
    }
    close(file);
    close(before);
    return text;
  }

private:
  int file, before;
};
} // namespace

/// A flag with one value, of which LLVM would take the last; passes are lists.
static Option *findTwice() {
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.second->getNumOccurrences() > 1 && entry.second->getNumOccurrencesFlag() == llvm::cl::Optional)
      return entry.second;
  return nullptr;
}

bool LlvmCommandLine::parse(llvm::StringRef overview) {
  std::vector<const char *> argv = {program.c_str()};
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  std::string text;
  llvm::raw_string_ostream stream(text);
  StderrCapture capture;
  bool isParsed =
      llvm::cl::ParseCommandLineOptions(static_cast<int>(argv.size()), argv.data(), overview, &stream);
  text += capture.end();
  if (!isParsed) {
    printError(joinSentences(text, llvm::sys::path::filename(program)));
    return false;
  }
  if (const Option *twice = findTwice()) {
    printError(spell(twice->ArgStr) + " is given twice; give it once");
    return false;
  }
  if (configFlag().getNumOccurrences() && !fileRead) {
    printError("--config is in an @FILE of flags, where it is not read; give it on the command line");
    return false;
  }
  return true;
}

bool LlvmCommandLine::checkOutput(llvm::StringRef input, llvm::StringRef output) const {
  ::par::config::FileUses uses;
  uses.addRead("--config", configFile);
  uses.addRead("the input", input.str());
  uses.addWritten("-o", output.str());
  std::string clash = uses.findClash();
  if (!clash.empty())
    printError(clash);
  return clash.empty();
}
