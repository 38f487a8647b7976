#include "par/config/RunFile.h"

#include <algorithm>

namespace par::config {

const char *const configHelp = "reads flags from a file: lines as steps = 100, or below [par-run] for one "
                               "tool; flags of the command line win";

/// Headings of tables.
static const char *const tools[] = {"par-compile",  "par-data",   "par-emulate",   "par-export",
                                    "par-generate", "par-import", "par-interpret", "par-lsp-server",
                                    "par-measure",  "par-opt",    "par-plan",      "par-reduce",
                                    "par-prove",    "par-run",    "par-schedule"};

static io::Status checkTable(const std::string &place, const std::string &table) {
  if (std::find(std::begin(tools), std::end(tools), table) != std::end(tools))
    return {};
  std::string names;
  for (const char *tool : tools)
    names += (names.empty() ? "" : ", ") + std::string(tool);
  return io::Status::error(place + ": [" + table + "] is no tool; tables are named after one of " + names);
}

io::Status readSettings(const std::string &path, const std::string &tool, std::vector<Setting> &settings) {
  std::vector<Entry> entries;
  PAR_TRY(readToml(path, entries));
  settings.clear();
  for (Entry &entry : entries) {
    std::string place = path + ":" + std::to_string(entry.line);
    if (!entry.table.empty())
      PAR_TRY(checkTable(place, entry.table));
    if (!entry.table.empty() && entry.table != tool)
      continue;
    for (const Setting &other : settings)
      if (other.name == entry.key)
        return io::Status::error(place + ": '" + entry.key + "' is set above all tables, too; set it once");
    settings.push_back({entry.key, place, std::move(entry.value)});
  }
  return {};
}

static bool fits(Kind kind, Takes::Form form) {
  switch (form) {
  case Takes::toggle:
    return kind == Kind::boolean;
  case Takes::text:
    return kind == Kind::text;
  case Takes::integer:
    return kind == Kind::integer;
  case Takes::number:
    return kind == Kind::integer || kind == Kind::number;
  case Takes::scalar:
    return kind == Kind::text || kind == Kind::integer || kind == Kind::number;
  case Takes::optional:
    return kind != Kind::list;
  }
  return false;
}

static std::string describe(const Takes &takes) {
  switch (takes.form) {
  case Takes::toggle:
    return "true or false";
  case Takes::text:
    return takes.what + " in quotes";
  case Takes::integer:
    return "an integer without quotes";
  case Takes::number:
    return "a number without quotes";
  case Takes::scalar:
    return takes.what + ", a number or a text in quotes";
  case Takes::optional:
    return "true, false, a number or a text in quotes";
  }
  return "";
}

io::Status toArguments(const Setting &setting, const Takes &takes, std::vector<std::string> &arguments) {
  arguments.clear();
  const Value &value = setting.value;
  std::vector<Value> values =
      value.kind == Kind::list && takes.many ? value.items : std::vector<Value>{value};
  for (const Value &item : values) {
    if (!fits(item.kind, takes.form))
      return io::Status::error(setting.place + ": '" + setting.name + "' is " + quote(item) + ", expected " +
                               describe(takes) + (takes.many ? ", or a list of such" : ""));
    if (item.kind != Kind::boolean || item.text == "true")
      arguments.push_back(item.text);
  }
  return {};
}

/// How the command line has it.
static std::string spell(const Setting &setting) {
  return (setting.name.size() == 1 ? "-" : "--") + setting.name;
}

io::Status refuseKey(const Setting &setting, const KnownFlags &known) {
  std::string text = setting.place + ": '" + setting.name + "' is no flag of " + known.tool;
  auto [meant, remedy] = suggestFlag({spell(setting), setting.value.text}, known);
  if (!remedy.empty())
    return io::Status::error(text + remedy);
  for (const char *onlyTyped : {"", "--help", "--version", "--config"})
    if (meant == onlyTyped)
      return io::Status::error(text + " that a file can set; " + known.tool + " --help lists them");
  return io::Status::error(text + "; did you mean '" + meant.substr(meant.find_first_not_of('-')) + "'?");
}

} // namespace par::config
