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
  SmallVector<Operation *> ops;
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

  /// The values of units before it that a unit reads at present.
  llvm::SmallSetVector<Value, 4> findInputs(ArrayRef<Operation *> ops) const {
    llvm::SmallSetVector<Value, 4> inputs;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (!reproducible.contains(operand) && !llvm::is_contained(ops, operand.getDefiningOp()))
          inputs.insert(operand);
    return inputs;
  }

private:
  /// Units are alike that are the same ops, calls of the same functions, on values that come from the same
  /// places.
  ReadUnit readUnit(ArrayRef<Operation *> ops) {
    ReadUnit unit;
    unit.ops.assign(ops.begin(), ops.end());
    llvm::SmallSetVector<Value, 4> inputs = findInputs(ops);
    llvm::SmallSetVector<Value, 8> made;
    std::string order;
    llvm::raw_string_ostream stream(unit.likeness);
    for (Operation *op : ops) {
      stream << op->getName() << op->getAttrDictionary() << op->getResultTypes() << "(";
      for (Value operand : op->getOperands()) {
        addVariables(operand, reproducible, unit.variables, order);
        if (const auto *input = llvm::find(inputs, operand); input != inputs.end())
          stream << "i" << input - inputs.begin() << ",";
        else if (const auto *own = llvm::find(made, operand); own != made.end())
          stream << "o" << own - made.begin() << ",";
      }
      stream << ")";
      made.insert(op->result_begin(), op->result_end());
    }
    stream << order;
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

/// The values of a unit that other units read.
static SmallVector<Value> findOutputs(ArrayRef<Operation *> ops) {
  SmallVector<Value> outputs;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !llvm::is_contained(ops, user); }))
        outputs.push_back(result);
  return outputs;
}

/// Takes a unit out that is like `kept`, which comes before it. It passes on what it reads: for each of its
/// outputs the next input of that type takes its place, or, of one that is added up elsewhere, the same
/// output of `kept`. False, and nothing is changed, where it passes nothing on.
static bool takeOut(const UnitReader &reader, ArrayRef<Operation *> ops, ArrayRef<Value> kept) {
  SmallVector<Value> inputs = reader.findInputs(ops).takeVector(), outputs = findOutputs(ops), instead;
  if (outputs.size() != kept.size())
    return false;
  bool passesOn = false;
  for (auto [output, other] : llvm::zip(outputs, kept)) {
    auto *input = llvm::find_if(
        inputs, [&, output = output](Value value) { return value && value.getType() == output.getType(); });
    passesOn |= input != inputs.end();
    instead.push_back(input != inputs.end() ? std::exchange(*input, Value()) : other);
  }
  if (!passesOn)
    return false;
  for (auto [output, value] : llvm::zip(outputs, instead))
    output.replaceAllUsesWith(value);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return true;
}

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
  UnitReader reader(module, forward[0]);
  std::vector<ReadUnit> units = reader.run();
  llvm::StringMap<std::pair<int64_t, SmallVector<Value>>>
      known; // by likeness: the kind, and outputs of its first
  int64_t left = 0;
  for (ReadUnit &unit : units) {
    auto [kind, isNew] = known.try_emplace(unit.likeness, left, SmallVector<Value>());
    if (isNew)
      kind->second.second = findOutputs(unit.ops);
    bool isFolded = !isNew && takeOut(reader, unit.ops, kind->second.second);
    folded.kinds.push_back(isFolded ? kind->second.first : left++);
  }
  folded.shared = findShared(units, folded.kinds);
  eraseUnreadVariables(module, forward[0]);
  return folded;
}
