#include "chat/TemplateValues.h"

#include "chat/TemplatePython.h"
#include "par/Limits.h"

#include <algorithm>

namespace par::chat {

/// More than any conversation: doubling a text again and again ends here.
constexpr size_t longestText = limits::templateText;

std::string limited(std::string text, int line) {
  if (text.size() > longestText)
    throw TemplateError(line, "a text of more than 64 MiB");
  return text;
}

namespace {
/// What a list or object holds, with what is in that; stops at the first limit that it exceeds.
struct Contents {
  static constexpr size_t mostValues = limits::templateValues, mostLevels = limits::templateValueLevels;
  size_t values = 0, bytes = 0, levels = 0;

  const char *excess() const {
    return values > mostValues   ? "a list of more than 100000 values"
           : levels > mostLevels ? "a list of more than 500 levels"
           : bytes > longestText ? "a list with texts of more than 64 MiB"
                                 : nullptr;
  }

  void add(const Json &value, size_t level) {
    ++values;
    bytes += value.is_string() ? value.get_ref<const std::string &>().size() : 0;
    levels = std::max(levels, level);
    if (value.is_structured())
      for (const Json &item : value)
        if (!excess())
          add(item, level + 1);
  }
};
} // namespace

Json limitedList(Json value, int line) {
  Contents contents;
  contents.add(value, 1);
  if (const char *excess = contents.excess())
    throw TemplateError(line, excess);
  return value;
}

bool isTrue(const Json &value) {
  if (value.is_boolean())
    return value.get<bool>();
  if (value.is_number())
    return value.get<double>() != 0;
  if (value.is_string())
    return !value.get_ref<const std::string &>().empty();
  return value.is_structured() && !value.empty();
}

std::string toText(const Json &value, int line) {
  if (value.is_string())
    return value;
  if (value.is_boolean())
    return value.get<bool>() ? "True" : "False";
  if (value.is_number_integer())
    return value.dump();
  if (value.is_null())
    return "None";
  if (isUndefined(value))
    return "";
  if (value.is_structured())
    return represent(value, line);
  return representNumber(value.get<double>(), line);
}

static bool isNumber(const Json &value) { return value.is_boolean() || value.is_number_integer(); }

static int64_t numberOf(const Json &value, int line) {
  if (!isNumber(value))
    throw TemplateError(line, "a whole number is expected");
  return value.is_boolean() ? value.get<bool>() : value.get<int64_t>();
}

static bool areEqual(const Json &left, const Json &right) {
  if (isUndefined(left) || isUndefined(right))
    return isUndefined(left) && isUndefined(right);
  if (isNumber(left) && isNumber(right))
    return numberOf(left, 0) == numberOf(right, 0);
  return left == right;
}

static bool contains(const Json &whole, const Json &part, int line) {
  if (whole.is_string() && part.is_string())
    return whole.get_ref<const std::string &>().find(part.get_ref<const std::string &>()) !=
           std::string::npos;
  if (whole.is_object() && part.is_string())
    return whole.contains(part.get<std::string>());
  if (whole.is_array())
    return std::any_of(whole.begin(), whole.end(), [&](const Json &item) { return areEqual(item, part); });
  if (isUndefined(whole))
    return false;
  throw TemplateError(line, "'in' of values for which Python does not have it");
}

static bool isLess(const Json &left, const Json &right, int line) {
  if (isNumber(left) && isNumber(right))
    return numberOf(left, line) < numberOf(right, line);
  // UTF-8 sorts as the characters do.
  if (left.is_string() && right.is_string())
    return left.get_ref<const std::string &>() < right.get_ref<const std::string &>();
  throw TemplateError(line, "values that have no order are compared");
}

static Json add(const Json &left, const Json &right, int line) {
  if (left.is_string() && right.is_string())
    return limited(left.get_ref<const std::string &>() + right.get_ref<const std::string &>(), line);
  if (left.is_array() && right.is_array()) {
    Json both = left;
    both.insert(both.end(), right.begin(), right.end());
    return limitedList(std::move(both), line);
  }
  if (isNumber(left) && isNumber(right)) {
    int64_t sum;
    if (!__builtin_add_overflow(numberOf(left, line), numberOf(right, line), &sum))
      return sum;
  }
  throw TemplateError(line, "values are added that are not two texts, two lists or two whole numbers");
}

/// Of whole numbers, rounded as Python does.
static Json compute(char sign, int64_t left, int64_t right, int line) {
  int64_t result = 0;
  if (sign == '-' && !__builtin_sub_overflow(left, right, &result))
    return result;
  if (sign == '*' && !__builtin_mul_overflow(left, right, &result))
    return result;
  if ((sign == '/' || sign == '%') && right != 0 && right != -1) {
    bool isBelow = left % right != 0 && (left % right < 0) != (right < 0);
    return sign == '/' ? left / right - isBelow : left % right + (isBelow ? right : 0);
  }
  throw TemplateError(line, "a number that is none, or of more than 64 bits");
}

Json combine(const std::string &sign, const Json &left, const Json &right, int line) {
  if (sign == "==" || sign == "!=")
    return areEqual(left, right) == (sign == "==");
  if (sign == "in")
    return contains(right, left, line);
  if (sign == "<" || sign == ">=")
    return isLess(left, right, line) == (sign == "<");
  if (sign == ">" || sign == "<=")
    return isLess(right, left, line) == (sign == ">");
  if (sign == "~")
    return limited(toText(left, line) + toText(right, line), line);
  if (sign == "+")
    return add(left, right, line);
  return compute(sign[0], numberOf(left, line), numberOf(right, line), line);
}

std::vector<std::string> charactersOf(const std::string &text) {
  std::vector<std::string> characters;
  for (char byte : text)
    if ((byte & 0xc0) == 0x80 && !characters.empty())
      characters.back() += byte;
    else
      characters.emplace_back(1, byte);
  return characters;
}

/// What has no item of that name may have an attribute of Python's, which is called, never read.
static Json missing(const Json &object, const std::string &name, int line) {
  if (hasAttribute(object, name))
    throw TemplateError(line, "the attribute " + name + " is used as a value");
  return undefined();
}

Json memberOf(const Json &object, const std::string &name, int line) {
  if (!isUndefined(object) && hasAttribute(object, name))
    return missing(object, name, line);
  return itemOf(object, name, line);
}

Json itemOf(const Json &object, const Json &index, int line) {
  if (isUndefined(object))
    throw TemplateError(line, "an item of something that is not there");
  if (object.is_object() && index.is_string() && object.contains(index.get<std::string>()))
    return object[index.get<std::string>()];
  if (index.is_string())
    return missing(object, index, line);
  if ((!object.is_array() && !object.is_string()) || !isNumber(index))
    return undefined();
  Json items = object.is_array() ? object : Json(charactersOf(object));
  int64_t count = int64_t(items.size()), at = numberOf(index, line);
  at += at < 0 ? count : 0;
  return at >= 0 && at < count ? items[size_t(at)] : undefined();
}

Json sliceOf(const Json &object, const Json &begin, const Json &end, const Json &step, int line) {
  if (!object.is_array() && !object.is_string())
    throw TemplateError(line, "a part of what is neither a list nor a text");
  Json items = object.is_array() ? object : Json(charactersOf(object));
  int64_t count = int64_t(items.size()), by = step.is_null() ? 1 : numberOf(step, line);
  if (by == 0)
    throw TemplateError(line, "a slice with a step of 0");
  by = std::clamp(by, -count - 1, count + 1);
  int64_t least = by > 0 ? 0 : -1, most = by > 0 ? count : count - 1;
  auto bound = [&](const Json &value, int64_t usual) {
    if (value.is_null())
      return usual;
    int64_t at = numberOf(value, line);
    return std::clamp(at < 0 ? at + count : at, least, most);
  };
  int64_t first = bound(begin, by > 0 ? 0 : count - 1), last = bound(end, by > 0 ? count : -1);
  Json part = Json::array();
  for (int64_t i = first; by > 0 ? i < last : i > last; i += by)
    part.push_back(items[size_t(i)]);
  if (object.is_array())
    return part;
  std::string text;
  for (const Json &character : part)
    text += character.get<std::string>();
  return text;
}

std::string strip(const std::string &text, int sides, const std::string &letters) {
  static const std::vector<std::string> blanks = {
      " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",   "\x1e",   "\x1f",
      "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
      "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
  std::vector<std::string> taken = letters.empty() ? blanks : charactersOf(letters), all = charactersOf(text);
  auto isTaken = [&](const std::string &one) { return std::count(taken.begin(), taken.end(), one) > 0; };
  size_t begin = 0, end = all.size();
  while ((sides & 1) && begin < end && isTaken(all[begin]))
    ++begin;
  while ((sides & 2) && end > begin && isTaken(all[end - 1]))
    --end;
  std::string kept;
  for (size_t i = begin; i < end; ++i)
    kept += all[i];
  return kept;
}

} // namespace par::chat
