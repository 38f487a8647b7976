//===- PlanAttr.cpp - syntax and rules of the plan of a module ------------------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include <set>

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

template <typename Enum, IfEnum<Enum> = 0>
static ParseResult parseField(AsmParser &parser, Enum &target) {
  std::string name;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return failure();
  std::optional<Enum> found = findByName<Enum>(name);
  target = found.value_or(Enum());
  return found ? ParseResult(success())
               : parser.emitError(loc) << "expected one of " << llvm::join(getNames(Enum()), ", ");
}
static ParseResult parseField(AsmParser &parser, CompilePhase &target) {
  std::string name;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return failure();
  std::optional<CompilePhase> found = findPhase(name);
  target = found.value_or(CompilePhase::Emit);
  return found || name == getName(CompilePhase::Emit)
             ? ParseResult(success())
             : parser.emitError(loc) << "expected one of " << llvm::join(getPhaseNames(), ", ");
}
static ParseResult parseField(AsmParser &parser, std::string &target) { return parser.parseString(&target); }
static ParseResult parseField(AsmParser &parser, int64_t &target) { return parser.parseInteger(target); }
static ParseResult parseField(AsmParser &parser, std::optional<int64_t> &target) {
  return parser.parseInteger(target.emplace());
}
static ParseResult parseField(AsmParser &parser, bool &target) {
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  target = word == "true";
  return target || word == "false" ? ParseResult(success())
                                   : parser.emitError(parser.getCurrentLocation(), "expected true or false");
}
static ParseResult parseField(AsmParser &parser, std::vector<int64_t> &target) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(target.emplace_back()); });
}
static ParseResult parseField(AsmParser &parser, Names &target) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseString(&target.emplace_back()); });
}
static ParseResult parseField(AsmParser &parser, StageNumbers &target) {
  int64_t one = 0;
  OptionalParseResult single = parser.parseOptionalInteger(one);
  if (!single.has_value())
    return parseField(parser, static_cast<std::vector<int64_t> &>(target));
  target = {one};
  return *single;
}
static ParseResult parseField(AsmParser &parser, NamedAxes &target) {
  target.clear();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    auto &[axis, size] = target.emplace_back();
    return failure(parser.parseString(&axis) || parser.parseEqual() || parser.parseInteger(size));
  });
}

Attribute PlanAttr::parse(AsmParser &parser, Type) {
  Plan plan;
  CompilePhase after = CompilePhase::Import;
  std::set<std::string> seen;
  auto parseOne = [&]() -> ParseResult {
    StringRef key;
    llvm::SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (!seen.insert(key.str()).second)
      return parser.emitError(loc) << "plan_c2: the field " << key << " is given twice";
    if (key == "after")
      return parseField(parser, after);
    std::optional<ParseResult> result;
    visitFields(
        [&](const PlanField &field, auto &target) {
          if (field.name == key)
            result = parseField(parser, target);
        },
        plan);
    return result ? *result : parser.emitError(loc) << "unknown field of a plan: " << key;
  };
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), plan, after);
}

static void printField(llvm::raw_ostream &os, int64_t value) { os << value; }
static void printField(llvm::raw_ostream &os, bool value) { os << (value ? "true" : "false"); }
static void printField(llvm::raw_ostream &os, const std::string &value) { os << '"' << value << '"'; }
static void printField(llvm::raw_ostream &os, const std::optional<int64_t> &value) { os << *value; }
static void printField(llvm::raw_ostream &os, const std::vector<int64_t> &values) {
  os << '[';
  llvm::interleaveComma(values, os);
  os << ']';
}
static void printField(llvm::raw_ostream &os, const Names &names) {
  os << '[';
  llvm::interleaveComma(names, os, [&](const std::string &name) {
    os << '"';
    llvm::printEscapedString(name, os);
    os << '"';
  });
  os << ']';
}
static void printField(llvm::raw_ostream &os, const StageNumbers &numbers) {
  if (numbers.size() == 1)
    os << numbers.front();
  else
    printField(os, static_cast<const std::vector<int64_t> &>(numbers));
}
static void printField(llvm::raw_ostream &os, const NamedAxes &axes) {
  os << '[';
  llvm::interleaveComma(axes, os, [&](auto &axis) { os << '"' << axis.first << "\" = " << axis.second; });
  os << ']';
}
template <typename Enum, IfEnum<Enum> = 0>
static void printField(llvm::raw_ostream &os, Enum value) {
  os << '"' << getName(value) << '"';
}

void PlanAttr::print(AsmPrinter &printer) const {
  llvm::raw_ostream &os = printer.getStream();
  os << "<after = \"" << getName(getAfter()) << '"';
  const Plan usual;
  visitFields(
      [&](const PlanField &field, const auto &value, const auto &other) {
        if (value == other)
          return;
        os << ", " << field.name << " = ";
        printField(os, value);
      },
      getPlan(), usual);
  os << '>';
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, Plan plan, CompilePhase) {
  auto check = [&](StringRef field, int64_t value, int64_t least, int64_t most) {
    return value >= least && value <= most
               ? success()
               : LogicalResult(emitError() << "plan_c1: " << field << " is " << value << ", expected from "
                                           << least << " to " << most);
  };
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (auto &[axis, size] : plan.mesh)
    if (failed(check("mesh." + axis, size, 1, most)))
      return failure();
  return success(succeeded(check("version", plan.version, Plan::kVersion, Plan::kVersion)) &&
                 succeeded(check("zero", plan.zero, 0, 3)) &&
                 succeeded(check("micro_batches", plan.microBatches, 1, most)) &&
                 succeeded(check("chunks", plan.chunks, 1, most)));
}

PlanAttr par::getPlan(ModuleOp module) { return module->getAttrOfType<PlanAttr>(ParDialect::kPlanAttr); }

void par::setPlan(ModuleOp module, const Plan &plan, CompilePhase after) {
  module->setAttr(ParDialect::kPlanAttr, PlanAttr::get(module.getContext(), plan, after));
}
