//===- FoldUnits.cpp - a model with one layer of each kind ----------------------------------------------===//
#include "par/Planner/FoldUnits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Transforms/Cut/Units.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::par;

/// What a call passes on: the operand that is computed before it and of the type of its one result.
static Value findPassedOn(CallOp call) {
  if (call->getNumResults() != 1)
    return nullptr;
  for (Value operand : call->getOperands())
    if (operand.getDefiningOp() && operand.getType() == call->getResult(0).getType())
      return operand;
  return nullptr;
}

static void eraseUnreadVariables(ModuleOp module, func::FuncOp forward) {
  llvm::BitVector unread(forward.getNumArguments());
  for (BlockArgument argument : forward.getArguments())
    if (argument.use_empty() && getVariable(argument)) {
      unread.set(argument.getArgNumber());
      module.lookupSymbol(getVariable(argument).getValue())->erase();
    }
  forward.eraseArguments(unread);
}

/// What a graph has beside the step that is planned, which reads variables of all units.
static void eraseOtherPhases(ModuleOp module) {
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (PhaseAttr phase = getPhase(function); phase && phase.getPhase() != Phase::Forward)
      function.erase();
}

using Variables = llvm::SmallSetVector<Attribute, 8>;

/// The variables that a value follows from, in the order in which they are met; none where it is computed by
/// a unit. `order`: the place of each in the set.
static void addVariables(Value value, const DenseSet<Value> &reproducible, Variables &variables,
                         std::string &order) {
  if (!reproducible.contains(value))
    return;
  if (Operation *maker = value.getDefiningOp()) {
    for (Value operand : maker->getOperands())
      addVariables(operand, reproducible, variables, order);
  } else if (FlatSymbolRefAttr variable = getVariable(value)) {
    variables.insert(variable);
    order += "," + std::to_string(llvm::find(variables, variable) - variables.begin());
  }
}

namespace {
/// A unit before the model is folded.
struct ReadUnit {
  CallOp call; ///< null: not of one call alone
  Variables variables;
  std::string likeness; ///< of units of one kind
};

/// Tells the units of a forward function apart.
class UnitReader {
public:
  UnitReader(ModuleOp module, func::FuncOp forward)
      : module(module), reproducible(collectReproducible(forward)), units(forward, reproducible) {}

  std::vector<ReadUnit> run() {
    std::vector<ReadUnit> read;
    for (size_t unit = 0; unit < units.size(); ++unit)
      read.push_back(readUnit(units[unit]));
    return read;
  }

private:
  ReadUnit readUnit(ArrayRef<Operation *> ops) {
    ReadUnit unit;
    std::string order;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        addVariables(operand, reproducible, unit.variables, order);
    if (ops.size() > 1)
      return unit;
    unit.call = dyn_cast<CallOp>(ops.front());
    llvm::raw_string_ostream stream(unit.likeness);
    stream << (unit.call ? unit.call.getCallee() : "") << order;
    for (Attribute name : unit.variables) {
      auto variable = module.lookupSymbol<VariableOp>(cast<FlatSymbolRefAttr>(name).getValue());
      stream << "," << variable.getTensorType() << variable.isTrained();
    }
    return unit;
  }

  ModuleOp module;
  DenseSet<Value> reproducible;
  Units units;
};
} // namespace

/// Which units are like which, and what units have in common.
static std::vector<std::vector<SharedVariable>> findShared(ArrayRef<ReadUnit> units,
                                                           ArrayRef<int64_t> kinds) {
  llvm::MapVector<Attribute, int64_t> readers;
  for (const ReadUnit &unit : units)
    for (Attribute variable : unit.variables)
      ++readers[variable];
  std::map<int64_t, const ReadUnit *> first;     // of each kind
  std::map<int64_t, std::vector<bool>> isShared; // by kind: of the places of its variables
  for (auto [unit, kind] : llvm::zip(units, kinds)) {
    first.try_emplace(kind, &unit);
    std::vector<bool> &places = isShared[kind];
    places.resize(unit.variables.size());
    for (auto [place, variable] : llvm::enumerate(unit.variables))
      places[place] = places[place] || readers[variable] > 1;
  }
  std::vector<std::vector<SharedVariable>> shared;
  for (auto [unit, kind] : llvm::zip(units, kinds)) {
    shared.emplace_back();
    for (auto [place, variable] : llvm::enumerate(unit.variables))
      if (isShared[kind][place])
        shared.back().push_back({readers.find(variable) - readers.begin(),
                                 cast<FlatSymbolRefAttr>(first[kind]->variables[place]).getValue().str()});
  }
  return shared;
}

FoldedUnits par::foldUnits(ModuleOp module) {
  FoldedUnits folded;
  SmallVector<func::FuncOp> forward = ChunkFunctions(module).getAll(Phase::Forward);
  if (forward.size() != 1)
    return folded;
  eraseOtherPhases(module);
  if (forward[0].getOps<CallOp>().empty()) {
    folded.kinds = {0};
    folded.shared.resize(1);
    return folded;
  }
  std::vector<ReadUnit> units = UnitReader(module, forward[0]).run();
  llvm::StringMap<int64_t> known;
  int64_t left = 0;
  for (ReadUnit &unit : units) {
    Value passedOn = unit.call ? findPassedOn(unit.call) : Value();
    auto [kind, isNew] = known.try_emplace(unit.likeness, left);
    if (!passedOn || isNew) {
      folded.kinds.push_back(left++);
      continue;
    }
    folded.kinds.push_back(kind->second);
    unit.call->getResult(0).replaceAllUsesWith(passedOn);
    unit.call->erase();
  }
  folded.shared = findShared(units, folded.kinds);
  eraseUnreadVariables(module, forward[0]);
  return folded;
}
