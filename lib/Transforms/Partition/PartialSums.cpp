//===- PartialSums.cpp - where pending sums are reduced -------------------------------------------------===//
#include "PartialSums.h"
#include "Causes.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Plan/Axes.h"

using namespace mlir;
using namespace mlir::par;

PartialSums::PartialSums(func::FuncOp function, const SymbolTable &symbols, MeshAttr mesh,
                         VariableSums &variables, SumCauses &causes, const VariableSums &limits)
    : function(function), symbols(symbols), mesh(mesh), variables(variables), causes(causes),
      exit(cast<func::ReturnOp>(function.front().getTerminator())) {
  llvm::DenseMap<Attribute, unsigned> readers; // variable → argument
  // Sums are gathered in accumulators alone; what other state holds between two functions is complete.
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
    if (FlatSymbolRefAttr bound = getVariable(function, argument))
      if (auto variable = symbols.lookup<VariableOp>(bound.getAttr());
          variable && variable.getRole() == Role::Accumulator)
        readers.try_emplace(bound, argument);
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    auto reader = readers.find(getResultVariable(function, result));
    if (std::optional<int64_t> alias = getAlias(function, result))
      ties[result] = *alias;
    else if (reader != readers.end())
      ties[result] = reader->second;
  }
  initializeArguments(limits);
}

/// Arguments that a result overwrites may be pending over every axis that does not split them, as far as the
/// result is; but for stages, of which each has sums of its own. Arguments that read an accumulator are what
/// the function that wrote it made of it.
void PartialSums::initializeArguments(const VariableSums &limits) {
  for (auto [result, argument] : ties) {
    ShardingAttr sharding = getSharding(function.getArgument(argument));
    FlatSymbolRefAttr bound = getVariable(function, argument);
    auto limit = bound ? limits.find(bound.getValue().str()) : limits.end();
    for (StringAttr axis : mesh.getNames())
      if (mesh.getSize(axis.getValue()) > 1 && !hasRole(axis.getValue(), AxisRole::Pipeline) &&
          !llvm::is_contained(sharding.getShardedAxes(), axis) &&
          (limit == limits.end() || llvm::is_contained(limit->second, axis)))
        kept[function.getArgument(argument)].insert(axis);
  }
  for (BlockArgument argument : function.getArguments()) {
    FlatSymbolRefAttr bound = getVariable(argument);
    if (!bound || kept.contains(argument))
      continue;
    if (auto found = variables.find(bound.getValue().str()); found != variables.end())
      raw[argument].insert(found->second.begin(), found->second.end());
  }
}

//===----------------------------------------------------------------------===//
// What is pending
//===----------------------------------------------------------------------===//

/// A sum over an axis that splits the op's values is another sum in each of their parts.
bool PartialSums::mayPass(Operation *op, StringAttr axis) {
  auto isSplit = [&](Value value) { return llvm::is_contained(getSharding(value).getShardedAxes(), axis); };
  return llvm::none_of(op->getResults(), isSplit) && llvm::none_of(op->getOperands(), isSplit);
}

/// True if there is more to reduce behind the op than before it.
bool PartialSums::grows(Operation *op, DenseI64ArrayAttr set) {
  double before = 0, after = 0;
  for (int64_t operand : set.asArrayRef())
    before += getLocalBytes(op->getOperand(operand), mesh);
  for (Value result : op->getResults())
    after += getLocalBytes(result, mesh);
  return after > before;
}

PartialSums::RuleSums PartialSums::readRule(Operation *op, RuleAttr rule) {
  SmallVector<ShardingAttr> operands, results;
  for (Value operand : op->getOperands())
    operands.push_back(getSharding(operand));
  for (Value each : op->getResults())
    results.push_back(getSharding(each));
  RuleSums sums;
  auto factors = readFactors(rule, operands, results);
  for (unsigned result = 0; result < op->getNumResults(); ++result) {
    Pending &own = sums.own.emplace_back();
    for (StringAttr axis : pendingAxes(rule, factors, result))
      own.insert(axis);
  }
  SmallVector<DenseI64ArrayAttr, 1> sets;
  for (DenseI64ArrayAttr set : rule.getLinear())
    if (!set.empty() && !grows(op, set))
      sets.push_back(set);
  for (StringAttr axis : mesh.getNames())
    sums.linear.push_back(!sets.empty() && mayPass(op, axis) ? sets : SmallVector<DenseI64ArrayAttr, 1>());
  return sums;
}

/// Asked for again and again while the sums settle.
const PartialSums::RuleSums *PartialSums::getRuleSums(Operation *op) {
  auto [known, isNew] = rules.try_emplace(op);
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op); ruled && isNew)
    if (RuleAttr rule = ruled.getShardingRule())
      known->second = std::make_unique<RuleSums>(readRule(op, rule));
  return known->second.get();
}

DenseI64ArrayAttr PartialSums::findPassingSet(Operation *op, const RuleSums &sums, size_t axis) {
  StringAttr name = mesh.getNames()[axis];
  auto isPending = [&](int64_t operand) {
    auto found = kept.find(op->getOperand(operand));
    return found != kept.end() && found->second.contains(name);
  };
  for (DenseI64ArrayAttr set : sums.linear[axis])
    if (llvm::all_of(set.asArrayRef(), isPending))
      return set;
  return nullptr;
}

PartialSums::Pending PartialSums::deriveThroughRule(Operation *op, const RuleSums &sums, unsigned result) {
  Pending pending = sums.own[result];
  for (auto [number, axis] : llvm::enumerate(mesh.getNames()))
    if (findPassingSet(op, sums, number))
      pending.insert(axis);
  return pending;
}

/// A reshard moves a partial sum as it moves anything, if that is not more to reduce afterwards.
bool PartialSums::passesReshard(ReshardOp reshard, StringAttr axis) {
  return kept[reshard.getInput()].contains(axis) && !reshard->hasAttr(ParDialect::kCompleteAttr) &&
         !llvm::is_contained(reshard.getTarget().getShardedAxes(), axis) &&
         getLocalBytes(reshard.getResult(), mesh) <= getLocalBytes(reshard.getInput(), mesh);
}

PartialSums::Pending PartialSums::derive(Operation *op, unsigned result) {
  Pending pending;
  if (auto call = dyn_cast<CallOp>(op)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    for (StringAttr axis : getResultSharding(callee, result).getUnreduced())
      pending.insert(axis);
    return pending;
  }
  if (auto reshard = dyn_cast<ReshardOp>(op)) {
    for (StringAttr axis : reshard.getTarget().getUnreduced())
      pending.insert(axis);
    for (StringAttr axis : mesh.getNames())
      if (passesReshard(reshard, axis))
        pending.insert(axis);
    return pending;
  }
  if (const RuleSums *sums = getRuleSums(op))
    return deriveThroughRule(op, *sums, result);
  return pending;
}

//===----------------------------------------------------------------------===//
// Who accepts
//===----------------------------------------------------------------------===//

bool PartialSums::acceptsReturn(func::ReturnOp, unsigned number) {
  if (ties.contains(number))
    return true;
  if (!function.isPrivate())
    return false;
  // The caller reduces: gradients leave a layer as partial sums, so that their reductions stand in the chunk
  // function.
  return true;
}

bool PartialSums::accepts(OpOperand &use, StringAttr axis) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (auto exit = dyn_cast<func::ReturnOp>(op))
    return acceptsReturn(exit, number);
  if (auto call = dyn_cast<CallOp>(op)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    return llvm::is_contained(getSharding(callee.getArgument(number)).getUnreduced(), axis);
  }
  if (isa<ReshardOp>(op))
    return true;
  if (const RuleSums *sums = getRuleSums(op)) {
    DenseI64ArrayAttr set = findPassingSet(op, *sums, static_cast<size_t>(mesh.getPosition(axis.getValue())));
    return set && llvm::is_contained(set.asArrayRef(), number);
  }
  return false;
}

void PartialSums::keep(Value value, Pending pending) {
  Pending &known = kept[value];
  changed |= known.getArrayRef() != pending.getArrayRef();
  known = std::move(pending);
}

void PartialSums::settle(Value value, Pending pending) {
  raw[value] = pending;
  if (optimistic)
    return keep(value, std::move(pending));
  Pending accepted;
  for (StringAttr axis : pending) {
    if (!llvm::all_of(value.getUses(), [&](OpOperand &use) { return accepts(use, axis); }))
      rejected[value].insert(axis);
    else if (!rejected.lookup(value).contains(axis) && !value.use_empty())
      accepted.insert(axis);
  }
  keep(value, std::move(accepted));
}

//===----------------------------------------------------------------------===//
// Fixed point
//===----------------------------------------------------------------------===//

/// An argument that a result overwrites is pending over no more than the result.
void PartialSums::settleTies() {
  for (auto [result, argument] : ties) {
    Value overwritten = function.getArgument(argument);
    const Pending have = kept.lookup(overwritten), written = kept.lookup(exit.getOperand(result));
    Pending both;
    for (StringAttr axis : have)
      if (written.contains(axis))
        both.insert(axis);
    raw[overwritten] = both;
    keep(overwritten, std::move(both));
  }
}

bool PartialSums::step() {
  changed = false;
  for (BlockArgument argument : function.getArguments())
    if (raw.contains(argument) || kept.contains(argument))
      settle(argument, raw.lookup(argument).empty() ? kept.lookup(argument) : raw.lookup(argument));
  for (Operation &op : function.front().without_terminator())
    for (OpResult result : op.getResults())
      if (getSharding(result))
        settle(result, derive(&op, result.getResultNumber()));
  settleTies();
  return changed;
}

void PartialSums::solve() {
  // First what could be pending if every op passed on what it can, then who accepts it.
  step();
  optimistic = false;
  // A kept axis of all optimistic ops only ever disappears; the bound guards against a rule that breaks this.
  unsigned limit = 4 * (1 + function.front().getOperations().size()) * (1 + mesh.getNames().size());
  while (step() && limit--)
    ;
}

VariableSums PartialSums::getAccumulatorSums() {
  VariableSums sums;
  for (auto [result, argument] : ties)
    if (FlatSymbolRefAttr bound = getVariable(function, argument))
      sums[bound.getValue().str()] = Axes(kept.lookup(function.getArgument(argument)).getArrayRef());
  return sums;
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

void PartialSums::reduceAtDefinition(Value value) {
  Pending defined = raw.lookup(value), keep = kept.lookup(value);
  ShardingAttr sharding = getSharding(value);
  if (sharding.getUnreduced() != defined.getArrayRef())
    setSharding(value, sharding.withUnreduced(defined.getArrayRef()));
  if (defined.getArrayRef() == keep.getArrayRef() || value.use_empty())
    return;
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(value);
  ShardingAttr target = sharding.withUnreduced(keep.getArrayRef());
  auto reshard = builder.create<ReshardOp>(value.getLoc(), value.getType(), value, target, nullptr);
  setSharding(reshard.getResult(), target);
  reshard->setAttr(ParDialect::kCauseAttr,
                   builder.getStringAttr(causes.describe(value, defined.getArrayRef())));
  value.replaceAllUsesExcept(reshard.getResult(), reshard);
}

/// An operand of a call must be pending over exactly what the callee's argument is.
void PartialSums::matchCallees(CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  for (auto [number, argument] : llvm::enumerate(callee.getArguments())) {
    ArrayRef<StringAttr> wanted = getSharding(argument).getUnreduced();
    Value operand = call.getInputs()[number];
    ShardingAttr have = getSharding(operand);
    if (llvm::all_of(wanted,
                     [&](StringAttr axis) { return llvm::is_contained(have.getUnreduced(), axis); }) &&
        wanted.size() == have.getUnreduced().size())
      continue;
    OpBuilder builder(call);
    ShardingAttr target = have.withUnreduced(wanted);
    auto reshard = builder.create<ReshardOp>(call.getLoc(), operand.getType(), operand, target, nullptr);
    setSharding(reshard.getResult(), target);
    reshard->setAttr(ParDialect::kCauseAttr, builder.getStringAttr("argument of @" + callee.getSymName()));
    call->setOperand(number, reshard.getResult());
  }
}

/// What is written to a variable is pending over exactly what was read from it.
void PartialSums::matchBindings() {
  for (auto [result, argument] : ties) {
    Value written = exit.getOperand(result);
    ShardingAttr have = getSharding(written),
                 target = have.withUnreduced(getSharding(function.getArgument(argument)).getUnreduced());
    if (have == target)
      continue;
    OpBuilder builder(exit);
    auto reshard = builder.create<ReshardOp>(exit.getLoc(), written.getType(), written, target, nullptr);
    setSharding(reshard.getResult(), target);
    reshard->setAttr(ParDialect::kCauseAttr,
                     builder.getStringAttr("what a variable reads and writes is one sharding"));
    exit->setOperand(result, reshard.getResult());
  }
}

/// What a reshard does not pass on it reduces itself, not a second one behind it.
void PartialSums::retarget(ReshardOp reshard) {
  Pending &keep = kept[reshard.getResult()];
  reshard.setTargetAttr(reshard.getTarget().withUnreduced(keep.getArrayRef()));
  reshard->removeAttr(ParDialect::kCompleteAttr);
  raw[reshard.getResult()] = keep;
}

void PartialSums::apply() {
  for (auto reshard : function.front().getOps<ReshardOp>())
    retarget(reshard);
  SmallVector<Value> values(function.getArguments().begin(), function.getArguments().end());
  for (Operation &op : function.front().without_terminator())
    for (Value result : op.getResults())
      if (getSharding(result))
        values.push_back(result);
  for (Value value : values)
    reduceAtDefinition(value);
  SmallVector<CallOp> calls(function.front().getOps<CallOp>());
  for (CallOp call : calls)
    matchCallees(call);
  matchBindings();
  SmallVector<Attribute> results;
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    results.push_back(getResultSharding(function, result)
                          .withUnreduced(getSharding(exit.getOperand(result)).getUnreduced()));
  setResultAttrs(function, ParDialect::kShardingAttr, results);
  for (auto [result, argument] : ties)
    if (FlatSymbolRefAttr bound = getVariable(function, argument))
      variables[bound.getValue().str()] = Axes(getSharding(function.getArgument(argument)).getUnreduced());
  causes.remember(function);
}
