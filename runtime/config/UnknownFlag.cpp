#include "par/config/UnknownFlag.h"

#include "par/config/Spelling.h"

#include <algorithm>
#include <cctype>

namespace par::config {

namespace {
/// A line of ForeignFlags.def.
struct ForeignFlag {
  const char *names, *tools, *say;
};
} // namespace

static const ForeignFlag foreignFlags[] = {
#define FOREIGN(names, tools, say) {names, tools, say},
#include "config/ForeignFlags.def"
#undef FOREIGN
};

static bool hasWord(const std::string &words, const std::string &word) {
  return (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

/// A value that can be repeated: what is long or has other characters is not.
static std::string asValue(const std::string &text) {
  bool isPlain = !text.empty() && text.size() <= 24 && text[0] != '-' &&
                 std::all_of(text.begin(), text.end(), [](char letter) {
                   return std::isalnum(static_cast<unsigned char>(letter)) ||
                          std::string("._=,:/+-").find(letter) != std::string::npos;
                 });
  return isPlain ? text : "N";
}

static std::string fill(std::string say, const std::string &value) {
  for (size_t at = 0; (at = say.find('#', at)) != std::string::npos; at += value.size())
    say.replace(at, 1, value);
  return say;
}

/// Returns what the line for the tool itself says, or nothing.
static std::string findForeign(const UnknownFlag &flag, const std::string &tool) {
  for (const ForeignFlag &foreign : foreignFlags)
    if (hasWord(foreign.tools, tool) && hasWord(foreign.names, plainName(flag.spelling))) {
      std::string say = fill(foreign.say, asValue(flag.value));
      return say[0] == '-' ? "; did you mean " + say + "?" : ": " + say;
    }
  return "";
}

/// Returns what the line for all tools says, else which other tool has the flag.
static std::string findElsewhere(const UnknownFlag &flag) {
  std::string text;
  for (const ForeignFlag &foreign : foreignFlags) {
    if (!hasWord(foreign.names, plainName(flag.spelling)))
      continue;
    std::string tools = foreign.tools, say = fill(foreign.say, asValue(flag.value));
    if (tools == "*")
      return ": " + say;
    if (text.empty())
      text = say[0] == '-' ? ": " + tools.substr(0, tools.find(' ')) + " has " + say : ": " + say;
  }
  return text;
}

Suggestion suggestFlag(const UnknownFlag &flag, const KnownFlags &known) {
  std::string name = plainName(flag.spelling);
  for (const std::string &spelling : known.spellings)
    if (plainName(spelling) == name)
      return {spelling, ""};
  for (const std::string &spelling : {flag.spelling, "--" + name})
    if (auto remedy = known.remedies.find(spelling); remedy != known.remedies.end())
      return {"", ": " + remedy->second};
  if (std::string remedy = findForeign(flag, known.tool); !remedy.empty())
    return {"", remedy};
  std::string meant = closest(flag.spelling, known.spellings);
  return {meant, meant.empty() ? findElsewhere(flag) : ""};
}

std::string refuseFlag(const UnknownFlag &flag, const KnownFlags &known) {
  auto [meant, remedy] = suggestFlag(flag, known);
  if (!meant.empty())
    remedy = "; did you mean " + meant + "?";
  return "unknown flag " + flag.spelling + (remedy.empty() ? "; --help lists the flags" : remedy);
}

} // namespace par::config
