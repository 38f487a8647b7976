//===- Flags.cpp - a command line with one clear error --------------------------------------------------===//
#include "par/Support/Flags.h"
#include "par/Support/Bytes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
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

void Flags::text(StringRef name, StringRef value, StringRef help, std::string &target) {
  std::string flag = (name.size() == 1 ? "-" : "--") + name.str(), kind = value.str();
  flags.push_back({name.str(), kind, help.str(), [flag, kind, &target](StringRef text) {
                     target = text.str();
                     return checkFilled(flag, text, kind);
                   }});
}

void Flags::list(StringRef name, StringRef value, StringRef help, std::vector<std::string> &target) {
  std::string flag = "--" + name.str(), kind = value.str();
  flags.push_back({name.str(), kind, help.str(), [flag, kind, &target](StringRef text) {
                     target.push_back(text.str());
                     return checkFilled(flag, text, kind);
                   }});
}

void Flags::integer(StringRef name, StringRef value, StringRef help, std::function<void(int64_t)> set) {
  std::string flag = "--" + name.str();
  flags.push_back(
      {name.str(), value.str(), help.str(), [flag, set = std::move(set)](StringRef text) -> Error {
         int64_t number;
         if (text.getAsInteger(10, number))
           return fail(flag + " is '" + text + "', expected an integer");
         set(number);
         return Error::success();
       }});
}

void Flags::bytes(StringRef name, StringRef help, std::function<void(int64_t)> set) {
  std::string flag = "--" + name.str();
  flags.push_back({name.str(), "SIZE", help.str(), [flag, set = std::move(set)](StringRef text) -> Error {
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
}

void Flags::number(StringRef name, StringRef value, StringRef help, double &target, double least) {
  std::string flag = "--" + name.str();
  flags.push_back({name.str(), value.str(), help.str(), [flag, least, &target](StringRef text) -> Error {
                     double number;
                     if (text.getAsDouble(number) || !std::isfinite(number) || number < least)
                       return fail(flag + " is '" + text + "', expected a number of at least " +
                                   llvm::formatv("{0}", least).str());
                     target = number;
                     return Error::success();
                   }});
}

void Flags::choice(StringRef name, std::vector<std::string> choices, StringRef help, std::string &target) {
  std::string flag = "--" + name.str(), names = llvm::join(choices, "|");
  flags.push_back({name.str(), names, help.str(), [=, &target](StringRef text) -> Error {
                     if (!llvm::is_contained(choices, text.str()))
                       return fail(flag + " is '" + text + "', expected " + names);
                     target = text.str();
                     return Error::success();
                   }});
}

void Flags::toggle(StringRef name, StringRef help, bool &target) {
  flags.push_back({name.str(), "", help.str(), [&target](StringRef) {
                     target = true;
                     return Error::success();
                   }});
}

const Flags::Flag *Flags::find(StringRef spelling) const {
  for (const Flag &flag : flags)
    if (flag.spelling() == spelling)
      return &flag;
  return nullptr;
}

Error Flags::unknown(StringRef spelling) const {
  std::string best;
  unsigned least = 3;
  for (const Flag &flag : flags)
    if (unsigned distance = spelling.edit_distance(flag.spelling()); distance < least) {
      least = distance;
      best = "; did you mean " + flag.spelling() + "?";
    }
  return fail("unknown flag " + spelling + (best.empty() ? "; --help lists the flags" : best));
}

Error Flags::takeOperand(StringRef text) {
  if (!operand || operandSeen)
    return fail("unexpected argument '" + text + "'; usage: " + usage);
  operandSeen = true;
  *operand = text.str();
  return Error::success();
}

Error Flags::parse(ArrayRef<const char *> arguments) {
  for (size_t at = 0; at < arguments.size(); ++at) {
    StringRef argument(arguments[at]);
    if (argument == "--help" || argument == "-h") {
      helpWanted = true;
      return Error::success();
    }
    if (!argument.starts_with("-") || argument == "-") {
      if (Error error = takeOperand(argument))
        return error;
      continue;
    }
    auto [spelling, value] = argument.split('=');
    bool attached = spelling.size() < argument.size();
    const Flag *flag = find(spelling);
    if (!flag)
      return unknown(spelling);
    if (flag->value.empty() && attached)
      return fail(spelling + " takes no value");
    if (!flag->value.empty() && !attached) {
      if (++at == arguments.size())
        return fail(spelling + " needs a value: " + spelling + " " + flag->value);
      value = arguments[at];
    }
    given.insert(flag->name);
    if (Error error = flag->set(value))
      return error;
  }
  return Error::success();
}

void Flags::printHelp(raw_ostream &os) const {
  os << overview << "\n\nusage: " << usage << "\n\n";
  for (const Flag &flag : flags) {
    std::string head = flag.spelling() + (flag.value.empty() ? "" : " " + flag.value);
    os << "  " << head;
    os.indent(head.size() < 20 ? 20 - head.size() : 1) << flag.help << "\n";
  }
}

} // namespace mlir::par
