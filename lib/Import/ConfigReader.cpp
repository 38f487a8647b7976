//===- ConfigReader.cpp - typed access to a config's keys -----------------------------------------------===//

#include "par/Import/ConfigReader.h"
#include "ConfigFile.h"
#include "par/config/Message.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace mlir::par {

std::string briefly(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  return ::par::config::shortened(text);
}

ConfigReader::ConfigReader(const ConfigFile &file) : file(file), object(file.getObject()) {}

std::string ConfigReader::quoted(StringRef key) const {
  return nestedIn.empty() ? ("'" + key + "'").str() : ("'" + nestedIn + "." + key + "'").str();
}

void ConfigReader::fail(StringRef key, const Twine &message) {
  if (!failure)
    failure.emplace(nestedIn.empty() ? key.str() : StringRef(nestedIn).split('.').first.str(), message.str());
}

void ConfigReader::wrongType(StringRef key, const json::Value &value, StringRef expected) {
  fail(key, quoted(key) + " is " + briefly(value) + ", expected " + expected);
}

const json::Value *ConfigReader::find(StringRef key) {
  known.insert(key);
  const json::Value *value = object.get(key);
  if (!value || value->kind() == json::Value::Null)
    if (auto it = aliases.find(key); it != aliases.end())
      value = object.get(it->second);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

bool ConfigReader::has(StringRef key) const {
  const json::Value *value = object.get(key);
  return value && value->kind() != json::Value::Null;
}

bool ConfigReader::isNull(StringRef key) const {
  const json::Value *value = object.get(key);
  return value && value->kind() == json::Value::Null;
}

void ConfigReader::alias(StringRef canonical, StringRef key) {
  known.insert(key);
  aliases[canonical] = key.str();
  if (has(canonical) && has(key) && *object.get(canonical) != *object.get(key))
    fail(key, quoted(key) + " is " + briefly(*object.get(key)) + " but its synonym '" + canonical + "' is " +
                  briefly(*object.get(canonical)) + "; remove one of them");
}

std::optional<int64_t> ConfigReader::optionalSize(StringRef key, int64_t limit) {
  const json::Value *value = find(key);
  if (!value)
    return std::nullopt;
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < 1 || *number > limit) {
    wrongType(key, *value, ("an integer from 1 to " + Twine(limit)).str());
    return std::nullopt;
  }
  return number;
}

int64_t ConfigReader::size(StringRef key, int64_t absent, int64_t limit) {
  return optionalSize(key, limit).value_or(absent);
}

std::optional<double> ConfigReader::finite(StringRef key) {
  const json::Value *value = find(key);
  if (!value)
    return std::nullopt;
  std::optional<double> number = value->getAsNumber();
  if (number && std::isfinite(*number))
    return number;
  wrongType(key, *value, "a number");
  return std::nullopt;
}

std::optional<double> ConfigReader::optionalPositive(StringRef key) {
  std::optional<double> number = finite(key);
  if (number && *number <= 0)
    wrongType(key, *find(key), "a number greater than 0");
  return number;
}

double ConfigReader::positive(StringRef key, std::optional<double> absent) {
  std::optional<double> number = optionalPositive(key);
  if (!number && !absent)
    fail(key, quoted(key) + " is missing; expected a number greater than 0");
  return number ? *number : absent.value_or(1.0);
}

double ConfigReader::nonNegative(StringRef key, double absent) {
  std::optional<double> number = finite(key);
  if (number && *number < 0)
    wrongType(key, *find(key), "a number of at least 0");
  return number.value_or(absent);
}

double ConfigReader::epsilon(StringRef key, double absent) {
  double number = nonNegative(key, absent);
  return number == 0 ? double(std::numeric_limits<float>::min()) : number;
}

std::optional<int64_t> ConfigReader::row(StringRef key, int64_t rows, std::optional<int64_t> absent) {
  const json::Value *value = find(key);
  json::Value fallback = absent.value_or(0);
  if (absent && !value && !isNull(key))
    value = &fallback;
  if (!value)
    return std::nullopt;
  std::optional<int64_t> number = value->getAsInteger();
  if (number && *number >= -rows && *number < rows)
    return *number < 0 ? *number + rows : *number;
  fail(key, quoted(key) + " is " + briefly(*value) + ", expected null or an integer from " + Twine(-rows) +
                " to " + Twine(rows - 1) + ", a row of the embedding; --set " + key +
                "=null imports without it");
  return std::nullopt;
}

double ConfigReader::probability(StringRef key, double absent) {
  std::optional<double> number = finite(key);
  if (number && (*number < 0 || *number >= 1))
    wrongType(key, *find(key), "a probability of at least 0, below 1");
  return number.value_or(absent);
}

bool ConfigReader::boolean(StringRef key, bool absent) {
  const json::Value *value = find(key);
  if (!value)
    return absent;
  std::optional<bool> flag = value->getAsBoolean();
  if (!flag)
    wrongType(key, *value, "true or false");
  return flag.value_or(absent);
}

std::string ConfigReader::text(StringRef key, StringRef absent) {
  const json::Value *value = find(key);
  if (!value)
    return absent.str();
  std::optional<StringRef> string = value->getAsString();
  if (!string)
    wrongType(key, *value, "a string");
  return string.value_or(absent).str();
}

std::vector<std::string> ConfigReader::texts(StringRef key) {
  const json::Value *value = find(key);
  if (!value)
    return {};
  std::vector<std::string> result;
  const json::Array *array = value->getAsArray();
  if (array)
    for (const json::Value &item : *array)
      if (std::optional<StringRef> string = item.getAsString())
        result.push_back(string->str());
  if (!array || result.size() != array->size())
    wrongType(key, *value, "a list of strings");
  return result;
}

std::vector<bool> ConfigReader::flags(StringRef key) {
  const json::Value *value = find(key);
  if (!value)
    return {};
  std::vector<bool> result;
  const json::Array *array = value->getAsArray();
  if (array)
    for (const json::Value &item : *array) {
      std::optional<bool> flag = item.getAsBoolean();
      std::optional<int64_t> number = item.getAsInteger();
      if (flag || (number && (*number == 0 || *number == 1)))
        result.push_back(flag ? *flag : *number == 1);
    }
  if (!array || result.size() != array->size())
    wrongType(key, *value, "a list of 0 and 1");
  return result;
}

Activation ConfigReader::activation(StringRef key, StringRef absent) {
  std::string name = text(key, absent);
  // Transformers' names, of which several mean one function.
  std::optional<Activation> activation =
      StringSwitch<std::optional<Activation>>(name)
          .Cases("gelu_new", "gelu_pytorch_tanh", "gelu_fast", Activation::GeluTanh)
          .Cases("gelu", "gelu_python", Activation::Gelu)
          .Case("relu", Activation::Relu)
          .Cases("silu", "swish", Activation::Silu)
          .Default(std::nullopt);
  if (!activation)
    fail(key, quoted(key) + " is \"" + name +
                  "\", which is not supported; supported are gelu, gelu_new, "
                  "gelu_pytorch_tanh, gelu_fast, relu, silu and swish");
  return activation.value_or(Activation::Relu);
}

const json::Object *ConfigReader::dictionary(StringRef key) {
  const json::Value *value = find(key);
  if (!value)
    return nullptr;
  const json::Object *result = value->getAsObject();
  if (!result)
    wrongType(key, *value, "a dictionary");
  return result && !result->empty() ? result : nullptr;
}

void ConfigReader::harmless(ArrayRef<StringRef> keys) {
  for (StringRef key : keys)
    known.insert(key);
}

void ConfigReader::only(StringRef key, const json::Value &supported, StringRef why) {
  const json::Value *value = find(key);
  if (value && *value != supported)
    fail(key, quoted(key) + " is " + briefly(*value) + ", which " + why + "; supported is only " +
                  briefly(supported));
}

void ConfigReader::absent(StringRef key, StringRef why) {
  const json::Value *value = find(key);
  if (!value)
    return;
  const json::Array *array = value->getAsArray();
  const json::Object *dictionary = value->getAsObject();
  if ((array && array->empty()) || (dictionary && dictionary->empty()))
    return;
  fail(key,
       quoted(key) + " is " + briefly(*value) + ", which " + why + "; supported is only a model without it");
}

std::string ConfigReader::suggestion(StringRef key) const {
  std::string best;
  unsigned least = std::max<size_t>(2, key.size() / 3) + 1;
  for (const auto &entry : known) {
    unsigned distance = key.edit_distance(entry.getKey(), true, least);
    // The set has no order; ties go to the first name, for one answer always.
    if (distance < least || (distance == least && !best.empty() && entry.getKey() < best)) {
      least = distance;
      best = entry.getKey().str();
    }
  }
  return best.empty() ? best : "; did you mean '" + best + "'?";
}

bool ConfigReader::isOverridden(StringRef key) const {
  return nestedIn.empty() && file.getOverrides().count(key);
}

/// Attributes of configuration classes are Python names, and private ones say how a model was stored or is
/// run: other tools, and people, leave notes under such keys.
static bool isForeign(StringRef key) { return key.starts_with("_") || key.contains('.'); }

void ConfigReader::refuseUnknown(StringRef family) {
  std::vector<StringRef> keys;
  for (const auto &entry : object)
    keys.push_back(entry.first);
  llvm::sort(keys);
  for (StringRef key : keys) {
    if (known.contains(key))
      continue;
    if (isOverridden(key) && !file.fileHas(key))
      return fail(key, family + " has no key " + quoted(key) + suggestion(key));
    // Who overrides such a key expects an effect.
    if (has(key) && isForeign(key) && !isOverridden(key))
      ignored.push_back(nestedIn.empty() ? key.str() : nestedIn + "." + key.str());
    else if (has(key))
      return fail(
          key, quoted(key) + " is " + briefly(*object.get(key)) + ", an unknown key, which may change what " +
                   family + " computes" + suggestion(key) +
                   (nestedIn.empty() ? "; --set " + key.str() + "=null imports without it" : "; remove it"));
  }
}

void ConfigReader::merge(ConfigReader &nested) {
  nested.refuseUnknown(("'" + nested.nestedIn + "'").c_str());
  if (nested.failure && !failure)
    failure = nested.failure;
  llvm::append_range(ignored, nested.ignored);
}

Error ConfigReader::finish(StringRef family) {
  refuseUnknown(family);
  llvm::sort(ignored);
  return failure ? file.error(failure->first, failure->second) : Error::success();
}

} // namespace mlir::par
