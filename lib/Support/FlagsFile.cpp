//===- FlagsFile.cpp - flags in a file ------------------------------------------------------------------===//
#include "FlagsDescription.h"
#include "par/Support/MakeError.h"
#include "par/config/RunFile.h"
#include "par/config/Sources.h"

using namespace llvm;
using ::par::config::Setting;
using ::par::config::Takes;

namespace mlir::par {

static Error toError(const ::par::io::Status &status) {
  return status.ok() ? Error::success() : makeError(status.message());
}

/// Keeps the runtime's types, whose namespace has the compiler's name, out of the header.
struct Flags::FileTaker {
  Flags &flags;

  static Takes::Form convert(Form form) {
    switch (form) {
    case Form::Toggle:
      return Takes::toggle;
    case Form::Text:
      return Takes::text;
    case Form::Integer:
      return Takes::integer;
    case Form::Number:
      return Takes::number;
    case Form::Scalar:
      return Takes::scalar;
    }
    llvm_unreachable("unknown form");
  }

  Error take(const Setting &setting) {
    std::string spelling = (setting.name.size() == 1 ? "-" : "--") + setting.name;
    const Flag *flag = flags.find(spelling);
    if (!flag || flag->name == "config")
      return toError(::par::config::refuseKey(setting, Description::getKnown(flags)));
    std::vector<std::string> texts;
    Takes takes{convert(flag->form), flag->isList, flag->value};
    if (Error error = toError(::par::config::toArguments(setting, takes, texts)))
      return error;
    // The command line wins.
    if (texts.empty() || !flags.given.insert(flag->name).second)
      return Error::success();
    ::par::config::noteSource(spelling, setting.place);
    for (const std::string &text : texts)
      if (Error error = flags.setValue(*flag, text))
        return makeError(setting.place + ": " + toString(std::move(error)));
    return Error::success();
  }
};

void Flags::describeFile() {
  section("");
  text("config", "FILE.toml", ::par::config::configHelp, configFile);
}

Error Flags::takeFile() {
  FileTaker taker{*this};
  std::vector<Setting> settings;
  if (Error error = toError(::par::config::readSettings(configFile, toolName().str(), settings)))
    return error;
  for (const Setting &setting : settings)
    if (Error error = taker.take(setting))
      return error;
  // It says nothing of its own.
  given.erase("config");
  return Error::success();
}

} // namespace mlir::par
