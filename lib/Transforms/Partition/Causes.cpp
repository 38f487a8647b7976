//===- Causes.cpp - why a collective exists -------------------------------------------------------------===//
#include "Causes.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

/// "einsum "bsm,em->bse"", "call @block.backward", "rms_norm".
static std::string nameOp(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  if (auto einsum = dyn_cast<EinsumOp>(op))
    name += " \"" + einsum.getEquation().str() + "\"";
  if (auto call = dyn_cast<CallOp>(op))
    name += " @" + call.getCallee().str();
  return name;
}

/// " <- annotation of …", from what propagation left at the op.
static std::string nameOrigins(Operation *op, ArrayRef<StringAttr> axes) {
  auto origins = op->getAttrOfType<DictionaryAttr>(ParDialect::kOriginAttr);
  std::string text;
  for (StringAttr axis : axes)
    if (auto origin = origins ? origins.getAs<StringAttr>(axis) : nullptr)
      if (!origin.empty() && text.find(origin.getValue().str()) == std::string::npos)
        text += (text.empty() ? " <- " : ", ") + origin.getValue().str();
  return text;
}

static std::string join(ArrayRef<StringAttr> axes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      axes, stream, [&](StringAttr axis) { stream << axis.getValue(); }, "+");
  return text;
}

/// The ops that sum over a split factor, behind ops that pass partial sums on; arguments that are partial
/// sums themselves.
static void findSources(Value value, StringAttr axis, llvm::SetVector<Value> &sources,
                        llvm::DenseSet<Value> &visited) {
  if (!visited.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  bool passed = false;
  SmallVector<Value> operands;
  if (op && !isa<CallOp>(op))
    operands.assign(op->operand_begin(), op->operand_end());
  for (Value operand : operands) {
    ShardingAttr sharding = getSharding(operand);
    if (!sharding || !llvm::is_contained(sharding.getUnreduced(), axis))
      continue;
    passed = true;
    findSources(operand, axis, sources, visited);
  }
  if (!passed)
    sources.insert(value);
}

/// "accumulator of @wte.weight", "argument 2 of @layer", or the op.
static std::string nameValue(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return nameOp(value.getDefiningOp());
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (FlatSymbolRefAttr bound = getVariable(argument))
    return "what @" + bound.getValue().str() + " holds";
  return "argument " + std::to_string(argument.getArgNumber()) + " of @" + function.getSymName().str();
}

SumCauses::Cause SumCauses::lookup(Value source) const {
  if (auto call = source.getDefiningOp<CallOp>()) {
    auto found = results.find({call.getCallee().str(), cast<OpResult>(source).getResultNumber()});
    return found == results.end() ? Cause() : found->second;
  }
  FlatSymbolRefAttr variable = getVariable(source);
  auto found = variable ? variables.find(variable.getValue().str()) : variables.end();
  return found == variables.end() ? Cause() : found->second;
}

SumCauses::Cause SumCauses::find(Value value, ArrayRef<StringAttr> axes) const {
  llvm::SetVector<Value> sources;
  llvm::DenseSet<Value> visited;
  for (StringAttr axis : axes)
    findSources(value, axis, sources, visited);
  // What an accumulator held before is no cause of what is added to it.
  if (llvm::any_of(sources, [](Value source) { return source.getDefiningOp(); }))
    sources.remove_if([](Value source) { return isa<BlockArgument>(source); });
  Cause cause;
  for (Value source : sources) {
    Cause behind = lookup(source);
    std::string name = nameValue(source) + (behind.ops.empty() ? "" : " (" + behind.ops + ")");
    if (cause.ops.find(name) == std::string::npos)
      cause.ops += (cause.ops.empty() ? "" : ", ") + name;
    Operation *op = source.getDefiningOp();
    std::string origins = op ? nameOrigins(op, axes) : "";
    if (cause.origins.empty())
      cause.origins = behind.origins.empty() ? origins : behind.origins;
  }
  cause.direct = sources.size() == 1 && sources.contains(value);
  return cause;
}

std::string SumCauses::describe(Value value, ArrayRef<StringAttr> axes) const {
  Cause cause = find(value, axes);
  if (!cause.direct)
    cause.ops += " (added up by " + nameValue(value) + ")";
  return cause.ops + (isa<BlockArgument>(value) ? " is a sum over " : " sums over ") + join(axes) +
         cause.origins;
}

void SumCauses::remember(func::FuncOp function) {
  auto exit = cast<func::ReturnOp>(function.front().getTerminator());
  for (unsigned number = 0; number < function.getNumResults(); ++number) {
    ShardingAttr sharding = getSharding(exit.getOperand(number));
    if (!sharding || sharding.getUnreduced().empty())
      continue;
    Cause cause = find(exit.getOperand(number), sharding.getUnreduced());
    results[{function.getSymName().str(), number}] = cause;
    if (FlatSymbolRefAttr bound = getResultVariable(function, number))
      variables[bound.getValue().str()] = cause;
  }
}

std::string par::describeLocal(Operation *op) {
  SmallVector<StringAttr> axes;
  for (Value operand : op->getOperands())
    if (ShardingAttr sharding = getSharding(operand))
      for (StringAttr axis : sharding.getShardedAxes())
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
  return nameOp(op) + " has operands split over " + join(axes) + nameOrigins(op, axes);
}

/// The first dimension in which two shardings differ, as "<to> instead of <from> in dimension d"; its axes
/// are appended.
static std::string nameDifference(ShardingAttr from, ShardingAttr to, SmallVectorImpl<StringAttr> &axes) {
  for (int64_t dim = 0, rank = from.getDims().size(); dim < rank; ++dim) {
    if (from.getAxes(dim) == to.getAxes(dim))
      continue;
    llvm::append_range(axes, from.getAxes(dim));
    llvm::append_range(axes, to.getAxes(dim));
    return "{" + join(to.getAxes(dim)) + "} instead of {" + join(from.getAxes(dim)) + "} in dimension " +
           std::to_string(dim);
  }
  return "no partial sum";
}

/// "einsum … needs operand 1", "write of @wte.weight needs it", "return of @layer needs operand 2".
static std::string nameNeed(Operation *user, unsigned operand) {
  std::string number = " needs operand " + std::to_string(operand);
  if (!isa<func::ReturnOp>(user))
    return nameOp(user) + number;
  auto function = user->getParentOfType<func::FuncOp>();
  if (FlatSymbolRefAttr bound = getResultVariable(function, operand))
    return "write of @" + bound.getValue().str() + " needs it";
  return "return of @" + function.getSymName().str() + number;
}

std::string par::describeOperand(Operation *user, unsigned operand, ShardingAttr from, ShardingAttr to) {
  SmallVector<StringAttr> axes;
  std::string difference = nameDifference(from, to, axes);
  return nameNeed(user, operand) + " split over " + difference + nameOrigins(user, axes);
}

std::string par::describeResult(OpResult result, ShardingAttr to) {
  SmallVector<StringAttr> axes;
  std::string difference = nameDifference(getSharding(result), to, axes);
  return nameOp(result.getOwner()) + " shall give result " + std::to_string(result.getResultNumber()) +
         " split over " + difference + nameOrigins(result.getOwner(), axes);
}
