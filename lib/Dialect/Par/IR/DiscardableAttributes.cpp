//===- DiscardableAttributes.cpp - which attributes may stand where -------------------------------------===//
#include "VerifyPlaces.h"
#include "par/Dialect/Par/IR/ParPlan.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Where an attribute may stand; an attribute of the list has a set of these.
enum Where : unsigned { MODULE = 1, FUNCTION = 2, ARGUMENT = 4, RESULT = 8, VARIABLE = 16, OP = 32 };

struct DiscardableAttribute {
  StringLiteral name;
  unsigned places;
  bool (*fits)(Attribute value);
  StringLiteral text;
};
} // namespace

static constexpr DiscardableAttribute kAttributes[] = {
#define PAR_DISCARDABLE(symbol, name, places, type, text)                                                    \
  {name, places, [](Attribute value) { return isa<type>(value); }, text},
#include "par/Dialect/Par/IR/DiscardableAttributes.def"
};

static constexpr std::pair<StringLiteral, StringLiteral> kRetired[] = {
#define PAR_RETIRED(name, now) {name, now},
#include "par/Dialect/Par/IR/DiscardableAttributes.def"
};

void ParDialect::registerDiscardable() {
  for (auto [number, attribute] : llvm::enumerate(kAttributes))
    discardable[StringAttr::get(getContext(), attribute.name)] = number;
}

//===----------------------------------------------------------------------===//
// attribute_c1, attribute_c2
//===----------------------------------------------------------------------===//

static std::string describe(unsigned places) {
  static constexpr std::pair<unsigned, StringLiteral> names[] = {
      {MODULE, "modules"}, {FUNCTION, "functions"},    {ARGUMENT, "arguments"},
      {RESULT, "results"}, {VARIABLE, "par.variable"}, {OP, "ops"}};
  SmallVector<StringRef> all;
  for (auto [place, name] : names)
    if (places & place)
      all.push_back(name);
  return llvm::join(all, ", ");
}

LogicalResult ParDialect::verifyDiscardable(Operation *op, NamedAttribute attribute, unsigned place,
                                            StringRef at) {
  auto found = discardable.find(attribute.getName());
  if (found == discardable.end()) {
    InFlightDiagnostic error = op->emitOpError("attribute_c1: ") << at << attribute.getName().getValue();
    for (auto [name, now] : kRetired)
      if (attribute.getName() == name)
        return error << " is written " << now << " now";
    return error << " is no attribute of par; docs/IR.md lists those that there are";
  }
  const DiscardableAttribute &known = kAttributes[found->second];
  if (!(known.places & place))
    return op->emitOpError("attribute_c2: ")
           << at << known.name << " is of " << describe(known.places) << " only";
  if (!known.fits(attribute.getValue()))
    return op->emitOpError("attribute_c2: ")
           << at << known.name << " is " << attribute.getValue() << ", expected " << known.text;
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// `par.sharding` of an op: an array with a sharding per result, each fitting mesh and rank.
static LogicalResult verifyOpSharding(Operation *op, Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  if (!array || array.size() != op->getNumResults())
    return op->emitOpError("par.sharding must be an array with one sharding per result (")
           << op->getNumResults() << ")";
  for (auto [entry, result] : llvm::zip(array, op->getResults())) {
    auto sharding = dyn_cast<ShardingAttr>(entry);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!sharding || !type)
      return op->emitOpError("par.sharding entries must be #par.sharding of ranked tensors");
    if (failed(sharding.verifyFor([&] { return op->emitOpError(); }, op, type.getRank())))
      return failure();
  }
  return success();
}

LogicalResult ParDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  // The value of par.state_storage is the variable's own matter: here the attributes that it depends on are
  // not verified yet.
  unsigned place = isa<ModuleOp>(op)              ? MODULE
                   : isa<FunctionOpInterface>(op) ? FUNCTION
                   : isa<VariableOp>(op)          ? VARIABLE
                                                  : OP;
  if (failed(verifyDiscardable(op, attribute, place, "")))
    return failure();
  if (attribute.getName() == kSaveAttr && !isa<DenseI64ArrayAttr>(attribute.getValue()))
    return op->emitOpError("attribute_c2: par.save of an op is ")
           << attribute.getValue() << ", expected the numbers of results";
  return attribute.getName() == kShardingAttr ? verifyOpSharding(op, attribute.getValue()) : success();
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

static LogicalResult verifyValueSharding(Operation *op, const Twine &at, Attribute value, Type tensor) {
  auto sharding = dyn_cast<ShardingAttr>(value);
  auto type = dyn_cast<RankedTensorType>(tensor);
  if (!sharding || !type)
    return op->emitOpError(at) << "par.sharding must be a #par.sharding of a ranked tensor";
  return sharding.verifyFor([&] { return op->emitOpError(at); }, op, type.getRank());
}

/// (dims_c1)
static LogicalResult verifyDims(Operation *op, const Twine &at, Attribute value, Type tensor) {
  auto names = cast<ArrayAttr>(value);
  auto type = dyn_cast<RankedTensorType>(tensor);
  if (type && static_cast<int64_t>(names.size()) == type.getRank() &&
      llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return success();
  return op->emitOpError("dims_c1: ")
         << at << "par.dims is " << value << ", expected a name for each dimension of " << tensor;
}

/// attribute_c1 and attribute_c2 without a word, as they are met by thousands of arguments.
static bool isDeclared(const llvm::DenseMap<StringAttr, unsigned> &list, NamedAttribute attribute,
                       unsigned place) {
  auto found = list.find(attribute.getName());
  return found != list.end() && (kAttributes[found->second].places & place) &&
         kAttributes[found->second].fits(attribute.getValue());
}

static bool hasPlaceBefore(FunctionOpInterface function, unsigned argument) {
  for (unsigned before = 0; before < argument; ++before)
    if (function.getArgAttr(before, ParDialect::kPlaceAttr))
      return true;
  return false;
}

LogicalResult ParDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argIndex,
                                                   NamedAttribute attribute) {
  if (!isDeclared(discardable, attribute, ARGUMENT))
    return verifyDiscardable(op, attribute, ARGUMENT, "argument " + std::to_string(argIndex) + ": ");
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return success();
  Type type = function.getArgumentTypes()[argIndex];
  if (attribute.getName() == kShardingAttr)
    return verifyValueSharding(op, "argument " + Twine(argIndex) + ": ", attribute.getValue(), type);
  if (attribute.getName() == kDimsAttr)
    return verifyDims(op, "argument " + Twine(argIndex) + ": ", attribute.getValue(), type);
  if (attribute.getName() == kSaveAttr && !isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError("attribute_c2: argument ")
           << argIndex << ": par.save is " << attribute.getValue() << ", expected a mark without a value";
  // All places of the function at once, when the first of them is met: its variables are looked up in one
  // walk of the module. Attributes of results are not known to be as many as there are results yet.
  ArrayAttr results = function.getResAttrsAttr();
  if (attribute.getName() != kPlaceAttr || hasPlaceBefore(function, argIndex) ||
      (results && results.size() != function.getNumResults()))
    return success();
  return verifyPlaces(function);
}

LogicalResult ParDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned resIndex,
                                                      NamedAttribute attribute) {
  if (!isDeclared(discardable, attribute, RESULT))
    return verifyDiscardable(op, attribute, RESULT, "result " + std::to_string(resIndex) + ": ");
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return success();
  if (attribute.getName() == kShardingAttr)
    return verifyValueSharding(op, "result " + Twine(resIndex) + ": ", attribute.getValue(),
                               function.getResultTypes()[resIndex]);
  if (attribute.getName() != kPlaceAttr || hasPlaceBefore(function, function.getNumArguments()))
    return success();
  for (unsigned before = 0; before < resIndex; ++before)
    if (getResultPlace(function, before))
      return success();
  return verifyPlaces(function);
}
