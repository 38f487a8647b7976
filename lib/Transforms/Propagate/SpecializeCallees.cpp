//===- SpecializeCallees.cpp - one function per set of variable shardings -------------------------------===//
#include "Propagation.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

/// The compute sharding of the variable that an operand reads directly, null for any other value.
static Attribute getBoundSharding(Value operand, const SymbolTable &symbols) {
  FlatSymbolRefAttr symbol = getVariable(operand);
  if (!symbol)
    return nullptr;
  auto variable = symbols.lookup<VariableOp>(symbol.getAttr());
  return variable ? Attribute(variable.getComputeAttr()) : nullptr;
}

static Attribute getKey(CallOp call, const SymbolTable &symbols) {
  SmallVector<Attribute> key;
  Builder builder(call.getContext());
  for (Value operand : call.getInputs()) {
    Attribute sharding = getBoundSharding(operand, symbols);
    key.push_back(sharding ? sharding : builder.getUnitAttr());
  }
  return builder.getArrayAttr(key);
}

void par::specializeCallees(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseMap<std::pair<Attribute, Attribute>, FlatSymbolRefAttr> versions;
  llvm::DenseSet<Attribute> taken;
  module.walk([&](CallOp call) {
    FlatSymbolRefAttr name = call.getCalleeAttr();
    FlatSymbolRefAttr &version = versions[{name, getKey(call, symbols)}];
    if (!version && taken.insert(name).second)
      version = name;
    if (!version) {
      auto clone = symbols.lookup<func::FuncOp>(name.getValue()).clone();
      symbols.insert(clone);
      version = FlatSymbolRefAttr::get(clone.getSymNameAttr());
    }
    call.setCalleeAttr(version);
  });
}
