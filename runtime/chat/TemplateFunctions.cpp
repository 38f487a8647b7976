#include "chat/TemplateFunctions.h"

#include "chat/TemplatePython.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <set>

namespace par::chat {

Json Arguments::get(size_t place, const char *name, Json otherwise) const {
  if (place < given.size())
    return given[place];
  return named.contains(name) ? named[name] : otherwise;
}

std::string Arguments::text(size_t place, const char *name) const {
  Json value = get(place, name, undefined());
  if (!value.is_string())
    throw TemplateError(line, "a text is expected in parentheses");
  return value;
}

[[noreturn]] static void refuse(int line, const std::string &what) {
  throw TemplateError(line, what + " is not among what par evaluates");
}

//--- Texts

static std::string replaceAll(const std::string &text, const std::string &from, const std::string &to,
                              int line) {
  if (from.empty())
    refuse(line, "replacing an empty text");
  std::string result;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string::npos; at = found + from.size())
    result = limited(std::move(result) + text.substr(at, found - at) + to, line);
  return result + text.substr(at);
}

/// Of other letters what is upper and lower is Unicode's business.
static std::string changeCase(std::string text, bool toUpper, int line) {
  for (char &letter : text) {
    if (letter & 0x80)
      refuse(line, "upper or lower case of letters beyond ASCII");
    letter = char(toUpper ? toupper(letter) : tolower(letter));
  }
  return text;
}

static Json split(const std::string &text, const std::string &by, int line) {
  if (by.empty())
    refuse(line, "split() without a text to split at");
  Json parts = Json::array();
  size_t at = 0;
  for (size_t found; (found = text.find(by, at)) != std::string::npos; at = found + by.size())
    parts.push_back(text.substr(at, found - at));
  parts.push_back(text.substr(at));
  return limitedList(std::move(parts), line);
}

namespace {
/// It writes as json.dumps(value, ensure_ascii=isAscii, indent=indent).
struct JsonWriter {
  int64_t indent; ///< negative: all in one line
  bool isAscii;
  int line;

  std::string newLine(int level) const {
    return indent < 0 ? std::string() : "\n" + std::string(size_t(indent * level), ' ');
  }

  std::string write(const Json &value, int level) const {
    if (isUndefined(value))
      refuse(line, "tojson of what is not there");
    if (value.is_number_float())
      return representNumber(value.get<double>(), line);
    if (!value.is_structured() || value.empty())
      return value.dump(-1, ' ', isAscii);
    std::string text(1, value.is_object() ? '{' : '[');
    bool first = true;
    for (const auto &[key, item] : value.items()) {
      text += (first ? "" : indent < 0 ? ", " : ",") + newLine(level + 1);
      text += (value.is_object() ? Json(key).dump(-1, ' ', isAscii) + ": " : "") + write(item, level + 1);
      first = false;
    }
    return text + newLine(level) + (value.is_object() ? '}' : ']');
  }
};
} // namespace

static Json toJson(const Json &value, const Arguments &arguments) {
  for (const auto &[name, given] : arguments.named.items())
    if (name != "indent" && name != "ensure_ascii")
      refuse(arguments.line, "tojson with " + name);
  if (!arguments.given.empty())
    refuse(arguments.line, "tojson with an argument without a name");
  Json indent = arguments.get(0, "indent", nullptr), isAscii = arguments.get(0, "ensure_ascii", false);
  if (indent.is_null())
    indent = -1;
  else if (!indent.is_number_integer() || indent < 0 || indent > 16)
    refuse(arguments.line, "tojson with an indentation that is not from 0 to 16");
  return JsonWriter{indent.get<int64_t>(), isTrue(isAscii), arguments.line}.write(value, 0);
}

//--- Lists

static Json listOf(const Json &value, int line) {
  if (value.is_array())
    return value;
  if (value.is_string())
    return limitedList(Json(charactersOf(value)), line);
  Json keys = Json::array();
  if (!value.is_object())
    throw TemplateError(line, "a list is expected");
  for (const auto &[key, item] : value.items())
    keys.push_back(key);
  return keys;
}

static Json itemsOf(const Json &value, int line) {
  if (!value.is_object())
    throw TemplateError(line, "items of what is no object");
  Json pairs = Json::array();
  for (const auto &[key, item] : value.items())
    pairs.push_back(Json::array({key, item}));
  return pairs;
}

/// Items are sorted by their names, in which upper and lower case are the same.
static Json sortedItems(const Json &value, const Arguments &arguments) {
  if (!arguments.given.empty() || !arguments.named.empty())
    refuse(arguments.line, "dictsort with arguments");
  std::multimap<std::string, Json> pairs; // equal ones in their order
  for (const Json &pair : itemsOf(value, arguments.line))
    pairs.emplace(changeCase(pair[0], /*toUpper=*/false, arguments.line), pair);
  Json sorted = Json::array();
  for (const auto &[name, pair] : pairs)
    sorted.push_back(pair);
  return sorted;
}

static Json lengthOf(const Json &value, int line) {
  if (!value.is_string() && !value.is_structured())
    throw TemplateError(line, "the length of a value that has none");
  return int64_t(value.is_string() ? charactersOf(value).size() : value.size());
}

static Json join(const Json &value, const Arguments &arguments) {
  std::string between = toText(arguments.get(0, "d", ""), arguments.line), text;
  bool first = true;
  for (const Json &item : listOf(value, arguments.line)) {
    text = limited(std::move(text) + (first ? "" : between) + toText(item, arguments.line), arguments.line);
    first = false;
  }
  return text;
}

/// Items whose member passes a test, or does not.
static Json select(const Json &value, const Arguments &arguments, bool passes) {
  std::string member = arguments.text(0, "attribute");
  std::string test = toText(arguments.get(1, "test", ""), arguments.line);
  if (test == "equalto" || test == "eq")
    test = "==";
  else if (test == "ne")
    test = "!=";
  bool compares = test == "==" || test == "!=" || test == "in";
  Json selected = Json::array();
  for (const Json &item : listOf(value, arguments.line)) {
    Json own = itemOf(item, member, arguments.line);
    bool is = test.empty() ? isTrue(own)
              : compares ? isTrue(combine(test, own, arguments.get(2, "value", undefined()), arguments.line))
                         : applyTest(test, own, arguments.line);
    if (is == passes)
      selected.push_back(item);
  }
  return selected;
}

static Json mapped(const Json &value, const Arguments &arguments) {
  Json results = Json::array();
  for (const Json &item : listOf(value, arguments.line))
    results.push_back(
        arguments.named.contains("attribute")
            ? itemOf(item, arguments.named["attribute"], arguments.line)
            : applyFilter(arguments.text(0, "filter"), item, {{}, Json::object(), arguments.line}));
  return limitedList(std::move(results), arguments.line);
}

//--- By name

using Filter = std::function<Json(const Json &value, const Arguments &arguments)>;

static const std::map<std::string, Filter> &filters() {
  static const std::map<std::string, Filter> known = {
      {"trim",
       [](const Json &v, const Arguments &a) {
         return strip(toText(v, a.line), 3, toText(a.get(0, "chars", ""), a.line));
       }},
      {"length", [](const Json &v, const Arguments &a) { return lengthOf(v, a.line); }},
      {"upper",
       [](const Json &v, const Arguments &a) { return changeCase(toText(v, a.line), true, a.line); }},
      {"lower",
       [](const Json &v, const Arguments &a) { return changeCase(toText(v, a.line), false, a.line); }},
      {"title", [](const Json &v, const Arguments &a) { return toTitleByWords(toText(v, a.line), a.line); }},
      {"capitalize", [](const Json &v, const Arguments &a) { return capitalize(toText(v, a.line), a.line); }},
      {"string", [](const Json &v, const Arguments &a) { return toText(v, a.line); }},
      {"safe", [](const Json &v, const Arguments &) { return v; }},
      {"list", [](const Json &v, const Arguments &a) { return listOf(v, a.line); }},
      {"first", [](const Json &v, const Arguments &a) { return itemOf(listOf(v, a.line), 0, a.line); }},
      {"last", [](const Json &v, const Arguments &a) { return itemOf(listOf(v, a.line), -1, a.line); }},
      {"reverse", [](const Json &v, const Arguments &a) { return sliceOf(v, nullptr, nullptr, -1, a.line); }},
      {"join", join},
      {"items", [](const Json &v, const Arguments &a) { return itemsOf(v, a.line); }},
      {"selectattr", [](const Json &v, const Arguments &a) { return select(v, a, true); }},
      {"rejectattr", [](const Json &v, const Arguments &a) { return select(v, a, false); }},
      {"map", mapped},
      {"replace",
       [](const Json &v, const Arguments &a) {
         if (a.given.size() != 2 || !a.named.empty())
           refuse(a.line, "replace() with other than two texts");
         return replaceAll(toText(v, a.line), a.text(0, "old"), a.text(1, "new"), a.line);
       }},
      {"dictsort", sortedItems},
      {"tojson", toJson}};
  return known;
}

Json applyFilter(const std::string &name, const Json &value, const Arguments &arguments) {
  if (name == "default" || name == "d") {
    bool counts = isTrue(arguments.get(1, "boolean", false));
    return isUndefined(value) || (counts && !isTrue(value)) ? arguments.get(0, "default_value", "") : value;
  }
  auto found = filters().find(name == "count" ? "length" : name);
  if (found == filters().end())
    refuse(arguments.line, "the filter " + name);
  if (!isUndefined(value))
    return found->second(value, arguments);
  if (name == "tojson" || name == "dictsort")
    throw TemplateError(arguments.line, "the filter " + name + " of something that is not there");
  // What is not there is an empty text, or an empty list.
  static const std::set<std::string> ofTexts = {"trim",       "upper",  "lower", "title",
                                                "capitalize", "string", "safe",  "replace"};
  Json empty = ofTexts.count(name) ? Json("") : name == "items" ? Json::object() : Json::array();
  return found->second(empty, arguments);
}

bool applyTest(const std::string &name, const Json &value, int line) {
  if (name == "defined" || name == "undefined")
    return isUndefined(value) == (name == "undefined");
  if (name == "none")
    return value.is_null();
  if (name == "string")
    return value.is_string();
  if (name == "mapping")
    return value.is_object();
  if (name == "iterable" || name == "sequence")
    return value.is_structured() || value.is_string() || isUndefined(value);
  if (name == "number")
    return value.is_number() || value.is_boolean();
  if (name == "integer")
    return value.is_number_integer();
  if (name == "boolean")
    return value.is_boolean();
  if (name == "true" || name == "false")
    return value.is_boolean() && value.get<bool>() == (name == "true");
  if ((name == "odd" || name == "even") && value.is_number_integer())
    return (value.get<int64_t>() % 2 != 0) == (name == "odd");
  refuse(line, "the test '" + name + "'");
}

static Json callTextMethod(const std::string &text, const std::string &name, const Arguments &a) {
  if (name == "strip" || name == "lstrip" || name == "rstrip")
    return strip(text, name == "strip" ? 3 : name == "lstrip" ? 1 : 2, a.given.empty() ? "" : a.text(0, ""));
  if (name == "upper" || name == "lower")
    return changeCase(text, name == "upper", a.line);
  if (name == "title" || name == "capitalize")
    return name == "title" ? toTitle(text, a.line) : capitalize(text, a.line);
  if (name == "startswith")
    return text.rfind(a.text(0, ""), 0) == 0;
  if (name == "endswith") {
    std::string end = a.text(0, "");
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  }
  if (name == "split" && a.given.size() == 1)
    return split(text, a.text(0, ""), a.line);
  if (name == "replace" && a.given.size() == 2)
    return replaceAll(text, a.text(0, ""), a.text(1, ""), a.line);
  refuse(a.line, "the method " + name + "() of a text, with these arguments,");
}

Json callMethod(const Json &object, const std::string &name, const Arguments &arguments) {
  if (object.is_string())
    return callTextMethod(object, name, arguments);
  if (object.is_object() && name == "items")
    return itemsOf(object, arguments.line);
  if (object.is_object() && name == "keys")
    return listOf(object, arguments.line);
  if (object.is_object() && name == "get") {
    Json found = itemOf(object, arguments.text(0, ""), arguments.line);
    return isUndefined(found) ? arguments.get(1, "", nullptr) : found;
  }
  refuse(arguments.line, "the method " + name + "()");
}

bool isFunction(const std::string &name) {
  return name == "raise_exception" || name == "namespace" || name == "range" || name == "strftime_now" ||
         name == "dict";
}

static Json range(const Arguments &arguments) {
  int64_t bounds[3] = {0, 0, 1};
  size_t count = arguments.given.size();
  for (size_t i = 0; i < count && i < 3; ++i) {
    if (!arguments.given[i].is_number_integer())
      throw TemplateError(arguments.line, "range() of what is no number");
    bounds[count == 1 ? 1 : i] = arguments.given[i].get<int64_t>();
  }
  Json numbers = Json::array();
  bool hasEnded = bounds[2] == 0;
  for (int64_t i = bounds[0]; !hasEnded && (bounds[2] > 0 ? i < bounds[1] : i > bounds[1]);) {
    if (numbers.size() == 10000)
      throw TemplateError(arguments.line, "range() of more than 10000 numbers");
    numbers.push_back(i);
    hasEnded = __builtin_add_overflow(i, bounds[2], &i);
  }
  if (bounds[2] == 0)
    throw TemplateError(arguments.line, "range() with a step of 0");
  return numbers;
}

/// In the words of the C locale, which are Python's as long as nobody sets another.
static std::string printNow(const std::string &format) {
  std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  std::string text(format.size() * 16 + 64, 0);
  text.resize(std::strftime(text.data(), text.size(), format.c_str(), &local));
  return text;
}

Json callFunction(const std::string &name, const Arguments &arguments) {
  if (name == "raise_exception")
    throw TemplateRefusal(arguments.line, "it refuses this conversation: " + arguments.text(0, "message"));
  if (name == "range")
    return range(arguments);
  if (name == "strftime_now")
    return printNow(arguments.text(0, "format"));
  if ((name == "namespace" || name == "dict") && arguments.given.empty())
    return limitedList(arguments.named, arguments.line);
  refuse(arguments.line, "the function " + name + "()");
}

} // namespace par::chat
