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

/// Asked for again and again while the sums settle; null for an op without one.
RuleAttr PartialSums::getRule(Operation *op) {
  auto [rule, isNew] = rules.try_emplace(op);
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op); ruled && isNew)
    rule->second = ruled.getShardingRule();
  return rule->second;
}

DenseI64ArrayAttr PartialSums::findPassingSet(Operation *op, RuleAttr rule, StringAttr axis) {
  auto isPending = [&](int64_t operand) { return kept[op->getOperand(operand)].contains(axis); };
  for (Value result : op->getResults())
    if (llvm::is_contained(getSharding(result).getShardedAxes(), axis))
      return nullptr;
  for (Value operand : op->getOperands())
    if (llvm::is_contained(getSharding(operand).getShardedAxes(), axis))
      return nullptr;
  for (DenseI64ArrayAttr set : rule.getLinear()) {
    if (set.empty() || !llvm::all_of(set.asArrayRef(), isPending))
      continue;
    double before = 0, after = 0;
    for (int64_t operand : set.asArrayRef())
      before += getLocalBytes(op->getOperand(operand), mesh);
    for (Value result : op->getResults())
      after += getLocalBytes(result, mesh);
    if (after <= before)
      return set;
  }
  return nullptr;
}

PartialSums::Pending PartialSums::deriveThroughRule(Operation *op, RuleAttr rule, unsigned result) {
  SmallVector<ShardingAttr> operands, results;
  for (Value operand : op->getOperands())
    operands.push_back(getSharding(operand));
  for (Value each : op->getResults())
    results.push_back(getSharding(each));
  Pending pending;
  for (StringAttr axis : pendingAxes(rule, readFactors(rule, operands, results), result))
    pending.insert(axis);
  for (StringAttr axis : mesh.getNames())
    if (findPassingSet(op, rule, axis))
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
  if (RuleAttr rule = getRule(op))
    return deriveThroughRule(op, rule, result);
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
  if (RuleAttr rule = getRule(op)) {
    DenseI64ArrayAttr set = findPassingSet(op, rule, axis);
    return set && llvm::is_contained(set.asArrayRef(), number);
  }
  return false;
}

void PartialSums::settle(Value value, Pending pending) {
  raw[value] = pending;
  if (optimistic) {
    kept[value] = pending;
    return;
  }
  Pending keep;
  for (StringAttr axis : pending) {
    bool accepted = llvm::all_of(value.getUses(), [&](OpOperand &use) { return accepts(use, axis); });
    if (!accepted)
      rejected[value].insert(axis);
    if (!rejected[value].contains(axis) && !value.use_empty())
      keep.insert(axis);
  }
  kept[value] = keep;
}

//===----------------------------------------------------------------------===//
// Fixed point
//===----------------------------------------------------------------------===//

bool PartialSums::step() {
  llvm::DenseMap<Value, Pending> before = kept;
  for (BlockArgument argument : function.getArguments())
    if (raw.contains(argument) || kept.contains(argument))
      settle(argument, raw.lookup(argument).empty() ? kept.lookup(argument) : raw.lookup(argument));
  for (Operation &op : function.front().without_terminator())
    for (OpResult result : op.getResults())
      if (getSharding(result))
        settle(result, derive(&op, result.getResultNumber()));
  for (auto [result, argument] : ties) {
    Pending &have = kept[function.getArgument(argument)], both;
    for (StringAttr axis : have)
      if (kept[exit.getOperand(result)].contains(axis))
        both.insert(axis);
    have = both;
    raw[function.getArgument(argument)] = both;
  }
  for (auto &[value, pending] : kept)
    if (before[value].getArrayRef() != pending.getArrayRef())
      return true;
  return false;
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
