#include "flags/Flags.h"

#include "par/Version.h"
#include "par/config/FileUses.h"
#include "par/config/Message.h"
#include "par/config/Sources.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

namespace par::flags {

/// The table of a file with a tool's flags; the launcher in a package is the same tool.
static std::string tableName(const std::string &tool) { return tool == "rank" ? "par-run" : tool; }

Flag::Flag(std::string spellings, std::string value, std::string help, std::string section, Take take)
    : spellings(std::move(spellings)), value(std::move(value)), help(std::move(help)),
      section(std::move(section)), take(std::move(take)) {}

Flag &Flag::required() {
  isRequired = true;
  return *this;
}

Flag &Flag::repeated() {
  isRepeated = true;
  return *this;
}

Flag &Flag::takes(config::Takes::Form its) {
  form = its;
  return *this;
}

Flag &Flag::reads() {
  isRead = true;
  return *this;
}

Flag &Flag::writes() {
  isWritten = true;
  return *this;
}

bool Flag::isSpelt(const std::string &text) const {
  return ("," + spellings + ",").find("," + text + ",") != std::string::npos;
}

Flag &Flags::custom(std::string spellings, std::string value, std::string help, Take take) {
  flags.emplace_back(std::move(spellings), std::move(value), std::move(help), openSection, std::move(take));
  return flags.back();
}

Flag &Flags::text(std::string spellings, std::string value, std::string help, std::string &target) {
  return custom(std::move(spellings), std::move(value), std::move(help),
                [&target](const std::string &text) {
                  target = text;
                  return std::string();
                })
      .takes(config::Takes::text);
}

Flag &Flags::integer(std::string spellings, std::string value, std::string help, IntegerRange range,
                     int64_t &target) {
  return custom(std::move(spellings), std::move(value), std::move(help),
                [range, &target](const std::string &text) { return readInteger(text, range, target); })
      .takes(config::Takes::integer);
}

Flag &Flags::number(std::string spellings, std::string value, std::string help, NumberRange range,
                    double &target) {
  return custom(std::move(spellings), std::move(value), std::move(help),
                [range, &target](const std::string &text) { return readNumber(text, range, target); })
      .takes(config::Takes::number);
}

Flag &Flags::toggle(std::string spellings, std::string help, bool &target) {
  return custom(std::move(spellings), "", std::move(help),
                [&target](const std::string &) {
                  target = true;
                  return std::string();
                })
      .takes(config::Takes::toggle);
}

void Flags::elsewhere(const std::vector<std::string> &spellings, const std::string &remedy) {
  for (const std::string &spelling : spellings)
    remedies[spelling] = remedy;
}

void Flags::operand(std::string value, std::string help, std::string &target) {
  positional = Operand{std::move(value), std::move(help), &target, nullptr};
}

void Flags::operands(std::string value, std::string help, std::vector<std::string> &targets) {
  positional = Operand{std::move(value), std::move(help), nullptr, &targets};
}

const Flag *Flags::find(const std::string &spelling) const {
  auto found =
      std::find_if(flags.begin(), flags.end(), [&](const Flag &flag) { return flag.isSpelt(spelling); });
  return found == flags.end() ? nullptr : &*found;
}

bool Flags::isGiven(const std::string &spelling) const {
  const Flag *flag = find(spelling);
  return flag && !flag->given.empty();
}

bool Flags::isOnCommandLine(const std::string &spelling) const {
  return isGiven(spelling) && find(spelling)->place.empty();
}

std::vector<std::string> Flags::givenFlags() const {
  std::vector<std::string> names;
  for (const Flag &flag : flags)
    if (!flag.given.empty())
      names.push_back(flag.firstSpelling());
  return names;
}

static std::string emptyValue(const std::string &flag, const std::string &value) {
  return flag + " is empty, expected " + value + "; give one or leave the flag out";
}

/// CLI11 takes the next argument for the value of "--steps=".
io::Status Flags::refuseEmptyValues(const std::vector<std::string> &arguments) const {
  for (const std::string &argument : arguments) {
    if (argument.empty() || argument.back() != '=')
      continue;
    const Flag *flag = find(argument.substr(0, argument.size() - 1));
    if (flag && !flag->value.empty())
      return io::Status::error(emptyValue(flag->firstSpelling(), flag->value));
  }
  return {};
}

io::Status Flags::split(const std::vector<std::string> &arguments, Split &result) {
  PAR_TRY(refuseEmptyValues(arguments));
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  CLI::Option *help = app.add_flag("-h,--help"), *version = app.add_flag("--version");
  std::vector<CLI::Option *> options;
  for (const Flag &flag : flags) {
    options.push_back(flag.value.empty() ? app.add_flag(flag.spellings) : app.add_option(flag.spellings));
    if (!flag.value.empty())
      options.back()->expected(1);
    options.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll); // to count them
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError &) {
    // A value is taken whatever it looks like, so only the last flag can be without one.
    const Flag *last = arguments.empty() ? nullptr : find(arguments.back());
    if (last && !last->value.empty())
      return io::Status::error(arguments.back() + " needs a value: " + arguments.back() + " " + last->value);
    return io::Status::error("the command line cannot be read; usage: " + usage);
  }
  result.help = help->count() > 0, result.version = version->count() > 0;
  for (size_t i = 0; i < flags.size(); ++i)
    flags[i].given = options[i]->results();
  result.others = app.remaining();
  return {};
}

config::KnownFlags Flags::knownFlags() const {
  config::KnownFlags known{tableName(tool), {"--help", "--version"}, remedies};
  for (const Flag &flag : flags)
    known.spellings.push_back(flag.spellings.substr(flag.spellings.find("--")));
  return known;
}

/// A word that begins like a flag, with what is behind its "=" or is the next word.
static config::UnknownFlag asFlag(const std::vector<std::string> &words, size_t at) {
  size_t sign = words[at].find('=');
  bool isAttached = sign != std::string::npos, isLast = at + 1 == words.size();
  return {words[at].substr(0, sign), isAttached ? words[at].substr(sign + 1)
                                     : isLast   ? std::string()
                                                : words[at + 1]};
}

io::Status Flags::takeOperands(const std::vector<std::string> &others) {
  // First what looks like a flag: the value of an unknown one is no operand.
  for (size_t at = 0; at < others.size(); ++at)
    if (others[at].size() > 1 && others[at][0] == '-')
      return io::Status::error(config::refuseFlag(asFlag(others, at), knownFlags()));
  bool many = positional && positional->all;
  if (size_t most = positional ? 1 : 0; !many && others.size() > most)
    return io::Status::error("unexpected argument '" + others[most] + "'; usage: " + usage);
  for (const std::string &argument : others)
    if (argument.empty())
      return io::Status::error(positional->value + " is empty; usage: " + usage);
  if (many)
    *positional->all = others;
  else if (positional && others.empty())
    return io::Status::error(positional->value + " is missing; usage: " + usage);
  else if (positional)
    *positional->one = others.front();
  return {};
}

io::Status Flags::takeFlag(Flag &flag) {
  std::string name = (flag.place.empty() ? "" : flag.place + ": ") + flag.firstSpelling();
  if (flag.given.empty())
    return flag.isRequired ? io::Status::error(name + " is missing; usage: " + usage) : io::Status();
  if (flag.given.size() > 1 && !flag.isRepeated)
    return io::Status::error(name + " is given twice; give it once");
  for (const std::string &text : flag.given) {
    if (flag.value.empty() && text != "true")
      return io::Status::error(name + " takes no value; leave out '=" + text + "'");
    if (text.empty())
      return io::Status::error(emptyValue(name, flag.value));
    if (std::string problem = flag.take(text); !problem.empty())
      return io::Status::error(name + " " + problem);
  }
  return {};
}

io::Status Flags::takeSetting(const config::Setting &setting) {
  std::string spelling = (setting.name.size() == 1 ? "-" : "--") + setting.name;
  auto found =
      std::find_if(flags.begin(), flags.end(), [&](const Flag &flag) { return flag.isSpelt(spelling); });
  if (found == flags.end() || found->isSpelt("--config"))
    return config::refuseKey(setting, knownFlags());
  std::vector<std::string> texts;
  PAR_TRY(config::toArguments(setting, {found->form, found->isRepeated, found->value}, texts));
  if (!found->place.empty())
    return io::Status::error(setting.place + ": '" + setting.name + "' is in " + found->place +
                             " already, under its other name; set it once");
  if (!found->given.empty())
    return {};
  found->given = std::move(texts);
  found->place = setting.place;
  config::noteSource(found->firstSpelling(), setting.place);
  return {};
}

io::Status Flags::takeFile(const std::string &path) {
  std::vector<config::Setting> settings;
  PAR_TRY(config::readSettings(path, tableName(tool), settings));
  for (const config::Setting &setting : settings)
    PAR_TRY(takeSetting(setting));
  return {};
}

io::Status Flags::takeAll(const Split &result) {
  PAR_TRY(takeOperands(result.others));
  // It was declared last, and says what the others are.
  PAR_TRY(takeFlag(flags.back()));
  if (!configFile.empty())
    PAR_TRY(takeFile(configFile));
  for (Flag &flag : flags)
    PAR_TRY(takeFlag(flag));
  return checkFiles();
}

io::Status Flags::checkFiles() const {
  config::FileUses uses;
  for (const Flag &flag : flags)
    for (const std::string &path : flag.given) {
      if (flag.isRead)
        uses.addRead(flag.firstSpelling(), path);
      if (flag.isWritten)
        uses.addWritten(flag.firstSpelling(), path);
    }
  std::string clash = uses.findClash();
  return clash.empty() ? io::Status() : io::Status::error(config::nameSources(clash));
}

std::optional<int> Flags::read(int argc, const char *const *argv,
                               const std::function<std::string()> &findProblem, bool quiet) {
  section("");
  text("--config", "FILE.toml", config::configHelp, configFile).reads();
  Split result;
  io::Status status = split({argv + std::min(argc, 1), argv + argc}, result);
  if (status.ok() && (result.help || result.version)) {
    if (!quiet)
      std::fputs(result.help ? helpText().c_str() : (tool + " " + getVersion() + "\n").c_str(), stdout);
    return 0;
  }
  if (status.ok())
    status = takeAll(result);
  std::string problem = status.ok() ? config::nameSources(findProblem()) : status.message();
  if (problem.empty())
    return std::nullopt;
  if (!quiet)
    std::fputs(config::errorLine(problem).c_str(), stderr);
  return 1;
}

} // namespace par::flags
