//===- Flags.cpp - a command line with one clear error --------------------------------------------------===//
#include "par/Support/Flags.h"
#include "par/Support/Bytes.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/OutputFile.h"
#include "par/Support/SuggestWord.h"
#include "par/Version.h"
#include "par/config/FileUses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace mlir::par {

static Error fail(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::invalid_argument), message);
}

/// Taken as it is, an empty text would read as if the flag had not been given.
static Error checkFilled(const Twine &flag, StringRef text, const Twine &value) {
  return text.empty() ? fail(flag + " is empty, expected " + value + "; give one or leave the flag out")
                      : Error::success();
}

Flags::Flag &Flags::add(Flag flag) {
  flag.section = openSection;
  flags.push_back(std::move(flag));
  return flags.back();
}

void Flags::text(StringRef name, StringRef value, StringRef help, std::string &target) {
  parsed(name, value, help, [&target](StringRef text) {
    target = text.str();
    return Error::success();
  });
  flags.back().form = Form::Text;
}

void Flags::parsed(StringRef name, StringRef value, StringRef help, std::function<Error(StringRef)> parse) {
  std::string flag = (name.size() == 1 ? "-" : "--") + name.str(), kind = value.str();
  add({name.str(), kind, help.str(), [flag, kind, parse = std::move(parse)](StringRef text) {
         if (Error error = checkFilled(flag, text, kind))
           return error;
         Error error = parse(text);
         return error ? fail(flag + toString(std::move(error))) : Error::success();
       }});
  flags.back().form = Form::Scalar;
}

void Flags::list(StringRef name, StringRef value, StringRef help, std::vector<std::string> &target) {
  std::string flag = "--" + name.str(), kind = value.str();
  add({name.str(), kind, help.str(),
       [flag, kind, &target](StringRef text) {
         target.push_back(text.str());
         return checkFilled(flag, text, kind);
       },
       /*isList=*/true});
}

/// Of what is no integer that a flag takes.
static std::string describeInteger(StringRef text, int64_t least) {
  using Limits = std::numeric_limits<int64_t>;
  StringRef digits = text;
  digits.consume_front("-");
  // Where only the type ends the range, its end is worth a word to those who went beyond.
  if (digits.size() > 18 && llvm::all_of(digits, llvm::isDigit))
    return "an integer from " + std::to_string(least) + " to " + std::to_string(Limits::max());
  return least == Limits::min() ? "an integer" : "an integer of at least " + std::to_string(least);
}

void Flags::integer(StringRef name, StringRef value, StringRef help, std::function<void(int64_t)> set,
                    int64_t least) {
  std::string flag = "--" + name.str();
  add({name.str(), value.str(), help.str(), [flag, least, set = std::move(set)](StringRef text) -> Error {
         int64_t number;
         if (text.getAsInteger(10, number) || number < least)
           return fail(flag + " is '" + text + "', expected " + describeInteger(text, least));
         set(number);
         return Error::success();
       }});
  flags.back().form = Form::Integer;
}

void Flags::bytes(StringRef name, StringRef help, std::function<void(int64_t)> set) {
  std::string flag = "--" + name.str();
  add({name.str(), "SIZE", help.str(), [flag, set = std::move(set)](StringRef text) -> Error {
         if (text == "0") {
           set(0);
           return Error::success();
         }
         Expected<int64_t> size = parseBytes(text);
         if (!size)
           return fail(flag + ": " + toString(size.takeError()) + ", or 0");
         set(*size);
         return Error::success();
       }});
  flags.back().form = Form::Scalar;
}

static std::string describe(const NumberRange &range) {
  std::string text;
  raw_string_ostream stream(text);
  stream << "a finite number " << (range.leastIncluded ? "of at least " : "above ")
         << llvm::format("%g", range.least);
  if (!std::isinf(range.below))
    stream << " and below " << llvm::format("%g", range.below);
  return text;
}

/// Written so that NaN, too, is outside.
static bool isWithin(double number, const NumberRange &range) {
  return number >= range.least && number < range.below && (range.leastIncluded || number > range.least);
}

void Flags::number(StringRef name, StringRef value, StringRef help, double &target, NumberRange range) {
  std::string flag = "--" + name.str();
  add({name.str(), value.str(), help.str(), [flag, range, &target](StringRef text) -> Error {
         double number;
         if (text.getAsDouble(number) || !isWithin(number, range))
           return fail(flag + " is '" + text + "', expected " + describe(range));
         target = number;
         return Error::success();
       }});
  flags.back().form = Form::Number;
}

void Flags::choice(StringRef name, std::vector<std::string> choices, StringRef help, std::string &target) {
  choice(name, std::move(choices), help, [&target](StringRef text) { target = text.str(); });
}

void Flags::choice(StringRef name, std::vector<std::string> choices, StringRef help,
                   std::function<void(StringRef)> set) {
  std::string flag = "--" + name.str(), names = llvm::join(choices, "|");
  add({name.str(), names, help.str(), [=](StringRef text) -> Error {
         if (!llvm::is_contained(choices, text.str()))
           return fail(flag + " is '" + text + "', expected " + names + suggestWord(text, choices));
         set(text);
         return Error::success();
       }});
  // Numbers are written as such (zero = 1).
  bool areNumbers =
      llvm::all_of(choices, [](StringRef choice) { return llvm::all_of(choice, llvm::isDigit); });
  flags.back().form = areNumbers ? Form::Scalar : Form::Text;
}

void Flags::toggle(StringRef name, StringRef help, bool &target) {
  add({name.str(), "", help.str(), [&target](StringRef) {
         target = true;
         return Error::success();
       }});
  flags.back().form = Form::Toggle;
}

const Flags::Flag *Flags::find(StringRef spelling) const {
  for (const Flag &flag : flags)
    if (flag.spelling() == spelling)
      return &flag;
  return nullptr;
}

void Flags::elsewhere(ArrayRef<StringRef> names, StringRef why) {
  for (StringRef name : names)
    foreign["--" + name.str()] = why.str();
}

Error Flags::takeOperand(StringRef text) {
  if (operandsSeen == operands.size())
    return fail("unexpected argument '" + text + "'; usage: " + usage);
  *operands[operandsSeen++] = text.str();
  return Error::success();
}

Error Flags::parseFlag(ArrayRef<const char *> arguments, size_t &at) {
  StringRef argument(arguments[at]);
  auto [spelling, value] = argument.split('=');
  bool attached = spelling.size() < argument.size();
  const Flag *flag = find(spelling);
  if (!flag)
    return unknown(spelling, attached || at + 1 == arguments.size() ? value : StringRef(arguments[at + 1]));
  if (flag->value.empty() && attached)
    return fail(spelling + " takes no value");
  if (!flag->value.empty() && !attached) {
    if (++at == arguments.size())
      return fail(spelling + " needs a value: " + spelling + " " + flag->value);
    value = arguments[at];
  }
  if (!given.insert(flag->name).second && !flag->isList)
    return fail(spelling + " is given twice; give it once");
  return setValue(*flag, value);
}

Error Flags::setValue(const Flag &flag, StringRef value) {
  values.emplace(flag.name, value.str());
  return flag.set(value);
}

void Flags::files(ArrayRef<StringRef> read, ArrayRef<StringRef> written) {
  for (StringRef name : read)
    readFiles.insert(name.str());
  for (StringRef name : written)
    writtenFiles.insert(name.str());
}

Error Flags::checkFiles() const {
  ::par::config::FileUses uses;
  StringRef names = StringRef(usage).split(' ').second;
  for (const std::string *operand : operands) {
    auto [name, rest] = names.split(' ');
    uses.addRead(name.str(), *operand);
    names = rest;
  }
  for (auto &[name, value] : values) {
    std::string spelling = (name.size() == 1 ? "-" : "--") + name;
    if (readFiles.count(name))
      uses.addRead(spelling, value);
    if (writtenFiles.count(name))
      uses.addWritten(spelling, value);
  }
  std::string clash = uses.findClash();
  return clash.empty() ? Error::success() : fail(clash);
}

Error Flags::set(StringRef name, StringRef value) {
  std::string spelling = "--" + name.str();
  const Flag *flag = find(spelling);
  if (!flag)
    return unknown(spelling, value);
  if (Error error = flag->set(value))
    return fail(": " + toString(std::move(error)));
  return Error::success();
}

Error Flags::parse(ArrayRef<const char *> arguments) {
  for (size_t at = 0; at < arguments.size(); ++at) {
    StringRef argument(arguments[at]);
    helpWanted = argument == "--help" || argument == "-h";
    versionWanted = argument == "--version";
    if (helpWanted || versionWanted)
      return Error::success();
    bool isOperand = !argument.starts_with("-") || argument == "-";
    if (Error error = isOperand ? takeOperand(argument) : parseFlag(arguments, at))
      return error;
  }
  if (!configFile.empty())
    if (Error error = takeFile())
      return error;
  return checkFiles();
}

std::optional<int> Flags::take(int argc, const char *const *argv) {
  describeFile();
  if (Error error = parse(ArrayRef(argv + 1, argc - 1))) {
    printError(std::move(error));
    return 1;
  }
  if (helpWanted)
    printHelp(outs());
  else if (versionWanted)
    outs() << toolName() << " " << ::par::getVersion() << "\n";
  else
    return std::nullopt;
  return finishOutput(0);
}

} // namespace mlir::par
