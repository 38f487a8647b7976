//===- PlanJson.cpp - plans as JSON ---------------------------------------------------------------------===//
#include "par/Plan/PlanJson.h"
#include "par/Support/JsonText.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir::par;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json::Value toValue(int64_t value) { return value; }
static json::Value toValue(bool value) { return value; }
static json::Value toValue(const std::string &value) { return value; }
static json::Value toValue(const std::vector<int64_t> &values) { return json::Array(values); }
static json::Value toValue(const Names &names) { return json::Array(names); }
static json::Value toValue(const std::optional<int64_t> &value) {
  return value ? json::Value(*value) : json::Value(nullptr);
}
static json::Value toValue(const StageNumbers &numbers) {
  if (numbers.size() > 1)
    return json::Array(numbers);
  return numbers.empty() ? json::Value(nullptr) : json::Value(numbers.front());
}
static json::Value toValue(const NamedAxes &axes) {
  json::Array array;
  for (auto &[axis, size] : axes)
    array.push_back(json::Array{axis, size});
  return array;
}
template <typename Enum, IfEnum<Enum> = 0>
static json::Value toValue(Enum value) {
  return getName(value);
}

json::Object mlir::par::toJson(const Plan &plan) {
  json::Object object;
  const Plan usual;
  visitFields(
      [&](const PlanField &field, const auto &value, const auto &other) {
        if (!field.isRare || value != other)
          object[field.name] = toValue(value);
      },
      plan, usual);
  return object;
}

json::Value mlir::par::toJson(const Plan &plan, llvm::StringRef name) {
  json::Value found = nullptr;
  visitFields(
      [&](const PlanField &field, const auto &value) {
        if (field.name == name)
          found = toValue(value);
      },
      plan);
  return found;
}

//===----------------------------------------------------------------------===//
// Reading: each gives what was expected, or nothing
//===----------------------------------------------------------------------===//

using Expectation = std::optional<std::string>;

static Expectation read(const json::Value &value, int64_t &target) {
  std::optional<int64_t> number = value.getAsInteger();
  target = number.value_or(0);
  return number ? std::nullopt : Expectation("an integer");
}
static Expectation read(const json::Value &value, bool &target) {
  std::optional<bool> flag = value.getAsBoolean();
  target = flag.value_or(false);
  return flag ? std::nullopt : Expectation("true or false");
}
static Expectation read(const json::Value &value, std::string &target) {
  std::optional<llvm::StringRef> text = value.getAsString();
  target = text.value_or("").str();
  return text ? std::nullopt : Expectation("a text");
}
static Expectation read(const json::Value &value, std::optional<int64_t> &target) {
  target = value.getAsInteger();
  return target || value.getAsNull() ? std::nullopt : Expectation("an integer or null");
}
static Expectation read(const json::Value &value, std::vector<int64_t> &target) {
  const json::Array *array = value.getAsArray();
  target.clear();
  for (const json::Value &entry : array ? *array : json::Array())
    if (std::optional<int64_t> number = entry.getAsInteger())
      target.push_back(*number);
  return array && target.size() == array->size() ? std::nullopt : Expectation("a list of integers");
}
static Expectation read(const json::Value &value, Names &target) {
  const json::Array *array = value.getAsArray();
  target.clear();
  for (const json::Value &entry : array ? *array : json::Array())
    if (std::optional<llvm::StringRef> text = entry.getAsString())
      target.push_back(text->str());
  return array && target.size() == array->size() ? std::nullopt : Expectation("a list of texts");
}
static Expectation read(const json::Value &value, StageNumbers &target) {
  target.clear();
  if (std::optional<int64_t> one = value.getAsInteger())
    target.push_back(*one);
  else if (value.getAsNull())
    return std::nullopt;
  else
    read(value, static_cast<std::vector<int64_t> &>(target));
  const json::Array *array = value.getAsArray();
  return !target.empty() && (!array || target.size() == array->size())
             ? std::nullopt
             : Expectation("an integer, a list of integers or null");
}
static Expectation read(const json::Value &value, NamedAxes &target) {
  const json::Array *array = value.getAsArray();
  target.clear();
  for (const json::Value &entry : array ? *array : json::Array()) {
    const json::Array *pair = entry.getAsArray();
    if (pair && pair->size() == 2 && (*pair)[0].getAsString() && (*pair)[1].getAsInteger())
      target.emplace_back((*pair)[0].getAsString()->str(), *(*pair)[1].getAsInteger());
  }
  return array && target.size() == array->size() ? std::nullopt : Expectation("a list of pairs [axis, size]");
}
template <typename Enum, IfEnum<Enum> = 0>
static Expectation read(const json::Value &value, Enum &target) {
  std::optional<Enum> found = findByName<Enum>(value.getAsString().value_or(""));
  target = found.value_or(Enum());
  return found ? std::nullopt : Expectation("one of " + llvm::join(getNames(Enum()), ", "));
}

static llvm::Error readFields(llvm::StringRef name, const json::Object &object, Plan &plan) {
  constexpr llvm::StringLiteral remedy = "; give a package, or what par-plan -o wrote";
  std::string problem;
  std::set<std::string> known;
  visitFields(
      [&](const PlanField &field, auto &target) {
        known.insert(field.name.str());
        const json::Value *value = object.get(field.name);
        if (!problem.empty())
          return;
        if (!value && field.isRare)
          return;
        if (!value)
          problem = ("the field \"" + field.name + "\" is missing").str();
        else if (Expectation expected = read(*value, target))
          problem = llvm::formatv("\"{0}\" is {1}, expected {2}", field.name, *value, *expected);
        else if (plan.version != Plan::kVersion)
          problem = llvm::formatv("\"version\" is {0}, expected {1}", plan.version, Plan::kVersion);
      },
      plan);
  for (auto &[key, value] : object)
    if (problem.empty() && !known.count(key.str()))
      problem = "the field \"" + key.str() + "\" is unknown";
  return problem.empty() ? llvm::Error::success() : makeError(name + ": " + problem + remedy);
}

llvm::Expected<Plan> mlir::par::parsePlan(llvm::StringRef name, llvm::StringRef text) {
  llvm::Expected<json::Value> value = parseJson(name, text, "plan");
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  // A package's manifest has its plan.
  if (object && object->getInteger("format_version") && object->get("plan"))
    object = object->getObject("plan");
  if (!object)
    return makeError(name + ": is no JSON object; give a package, or what par-plan -o wrote");
  Plan plan;
  if (llvm::Error error = readFields(name, *object, plan))
    return std::move(error);
  return plan;
}
