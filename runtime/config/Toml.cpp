#include "par/config/Toml.h"

#include "par/Limits.h"
#include "par/config/Message.h"
#include "par/io/TextFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

// All of it in this object: tools need no shared library of it. What it asserts, some malformed files break
// ("[[["), and its code refuses them: so nothing may end the process, nor be assumed, for it.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_FLOAT_CHARCONV 1 // without the locale
#define TOML_MAX_NESTED_VALUES 8
#include <toml++/toml.h>

namespace par::config {

std::string quote(const Value &value) {
  std::string text;
  if (value.kind == Kind::list) {
    for (const Value &item : value.items)
      text += (text.empty() ? "[" : ", ") + quote(item);
    text += text.empty() ? "[]" : "]";
  } else {
    text = value.kind == Kind::text ? '"' + value.text + '"' : value.text;
  }
  return shortened(text);
}

static io::Status errorAt(const std::string &path, long line, const std::string &problem) {
  return io::Status::error(visible(path) + ":" + std::to_string(line) + ": " + problem);
}

/// Refuses what the library does not bear.
static io::Status checkText(const std::string &text, const std::string &path) {
  int line = 1, dots = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n')
      ++line, dots = 0;
    else if (text.compare(i, 7, "\\U0010F") == 0 || text.compare(i, 7, "\\U0010f") == 0)
      return errorAt(path, line, "\\U0010F... is not built; write the character itself");
    else if (text[i] == '.' && ++dots > limits::tomlDots)
      return errorAt(path, line,
                     "the line has more than " + std::to_string(limits::tomlDots) +
                         " dots; break it: a text between \"\"\" may go over lines");
  }
  return {};
}

/// Bytes beyond ASCII as characters of their own, U+10F880 to U+10F8FF: what the library asks of others to
/// know whether they are spaces has no defined answer.
static std::string hideBytes(const std::string &text) {
  std::string result;
  for (unsigned char c : text)
    if (c < 0x80)
      result += char(c);
    else
      result += {'\xF4', '\x8F', c < 0xC0 ? '\xA2' : '\xA3', char(0x80 | (c & 0x3F))};
  return result;
}

/// The text before hideBytes.
static std::string showBytes(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\xF4\x8F") == 0 && i + 3 < text.size()) {
      result += char((text[i + 2] == '\xA2' ? 0x80 : 0xC0) | (text[i + 3] & 0x3F));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

namespace {
/// One setting as the library has it.
struct Found {
  std::string table;
  const toml::key *key;
  const toml::node *node;
};

/// From the library's tree to entries.
class Converter {
public:
  explicit Converter(const std::string &path) : path(path) {}

  io::Status run(const toml::table &document, std::vector<Entry> &entries) const {
    std::vector<Found> all;
    for (auto &&[key, node] : document) {
      const toml::table *table = node.as_table();
      if (!table || table->is_inline()) {
        all.push_back({"", &key, &node});
        continue;
      }
      PAR_TRY(checkName(key));
      for (auto &&[inner, value] : *table)
        all.push_back({showBytes(key.str()), &inner, &value});
    }
    // The library's tables are sorted by name.
    std::sort(all.begin(), all.end(),
              [](const Found &a, const Found &b) { return a.key->source().begin < b.key->source().begin; });
    std::vector<Entry> converted(all.size());
    for (size_t i = 0; i < all.size(); ++i)
      PAR_TRY(convert(all[i], converted[i]));
    entries = std::move(converted);
    return {};
  }

private:
  io::Status fail(const toml::source_region &source, const std::string &problem) const {
    return errorAt(path, source.begin.line, problem);
  }

  /// Keys and headings are in messages, and a table without a name would be none.
  io::Status checkName(const toml::key &key) const {
    if (key.empty())
      return fail(key.source(), "a key is empty; keys are names of flags, as steps = 100");
    if (visible(std::string(key.str())) != key.str())
      return fail(key.source(), "a key holds a control character; keys are names of flags, as steps = 100");
    return {};
  }

  io::Status convert(const Found &found, Entry &entry) const {
    PAR_TRY(checkName(*found.key));
    entry.table = found.table;
    entry.key = showBytes(found.key->str());
    entry.line = int(found.key->source().begin.line);
    const toml::array *array = found.node->as_array();
    if (!array)
      return scalar("'" + entry.key + "'", *found.node, entry.value);
    entry.value.kind = Kind::list;
    for (const toml::node &item : *array)
      PAR_TRY(scalar("a value of '" + entry.key + "'", item, entry.value.items.emplace_back()));
    return {};
  }

  io::Status refuse(const std::string &name, const toml::node &node, const std::string &what,
                    const std::string &remedy) const {
    return fail(node.source(), name + " is " + what + ", which no flag takes; write " + remedy);
  }

  io::Status scalar(const std::string &name, const toml::node &node, Value &value) const {
    switch (node.type()) {
    case toml::node_type::string:
      value = {Kind::text, showBytes(node.ref<std::string>()), {}};
      if (value.text.find('\0') != std::string::npos)
        return refuse(name, node, "a text with a NUL", "it without");
      return {};
    case toml::node_type::integer:
      value = {Kind::integer, std::to_string(node.ref<int64_t>()), {}};
      return {};
    case toml::node_type::floating_point:
      if (!std::isfinite(node.ref<double>()))
        return refuse(name, node, "inf or nan", "a number in decimal, as 3e-4");
      value = {Kind::number, shortest(node.ref<double>()), {}};
      return {};
    case toml::node_type::boolean:
      value = {Kind::boolean, node.ref<bool>() ? "true" : "false", {}};
      return {};
    case toml::node_type::table:
      return refuse(name, node, "a table", "a text, as on the command line, and headings as [par-run]");
    case toml::node_type::array:
      return refuse(name, node, "a list", "one list of texts or numbers");
    default:
      return refuse(name, node, "a date or time", "a text in quotes");
    }
  }

  /// The shortest decimal form that reads back as the same number, and as no integer.
  static std::string shortest(double number) {
    char text[32];
    std::string result(text, std::to_chars(text, text + sizeof(text), number).ptr);
    return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
  }

  const std::string &path;
};
} // namespace

io::Status parseToml(const std::string &text, const std::string &path, std::vector<Entry> &entries) {
  entries.clear();
  PAR_TRY(checkText(text, path));
  const size_t begin = text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;
  const std::string hidden = hideBytes(text.substr(begin));
  toml::parse_result result = toml::parse(std::string_view(hidden));
  if (!result)
    return errorAt(path, result.error().source().begin.line,
                   visible(showBytes(result.error().description())) +
                       "; write KEY = VALUE, texts in quotes, numbers in decimal, "
                       "and each KEY and [TOOL] once");
  return Converter(path).run(result.table(), entries);
}

io::Status readToml(const std::string &path, std::vector<Entry> &entries) {
  auto fail = [&](const std::string &problem) {
    return io::Status::error(visible(path) + ": cannot be read: " + problem +
                             "; give a file of flags to --config");
  };
  std::string text;
  if (io::Status status = io::readText(path, limits::tomlBytes, text); !status.ok())
    return fail(status.message());
  return parseToml(text, path, entries);
}

} // namespace par::config
