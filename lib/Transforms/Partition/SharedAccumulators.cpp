//===- SharedAccumulators.cpp - accumulators to which several functions add -----------------------------===//
#include "SharedAccumulators.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

static bool isAccumulator(FlatSymbolRefAttr bound, const SymbolTable &symbols) {
  auto variable = symbols.lookup<VariableOp>(bound.getAttr());
  return variable && variable.getRole() == Role::Accumulator;
}

static DenseSet<Attribute> getWritten(func::FuncOp function) {
  DenseSet<Attribute> written;
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (PlaceAttr place = getResultPlace(function, result))
      written.insert(place);
  return written;
}

SharedAccumulators::SharedAccumulators(ArrayRef<func::FuncOp> functions, const SymbolTable &symbols) {
  std::map<std::string, SmallVector<func::FuncOp>> writersOf, readersOf;
  for (func::FuncOp function : functions) {
    DenseSet<Attribute> written = getWritten(function);
    for (BlockArgument argument : function.getArguments())
      if (FlatSymbolRefAttr bound = getVariable(argument); bound && isAccumulator(bound, symbols)) {
        bool isWritten = written.contains(PlaceAttr::ofVariable(bound));
        (isWritten ? writersOf : readersOf)[bound.getValue().str()].push_back(function);
      }
  }
  for (auto &[name, writing] : writersOf) {
    if (writing.size() < 2)
      continue;
    writers.insert(writing.begin(), writing.end());
    readers.insert(readersOf[name].begin(), readersOf[name].end());
    names.insert(name);
  }
}

/// True if that changed the limit.
static bool narrow(VariableSums &limits, const std::string &name, const Axes &axes) {
  auto [limit, isNew] = limits.try_emplace(name, axes);
  size_t before = limit->second.size();
  llvm::erase_if(limit->second, [&](StringAttr axis) { return !llvm::is_contained(axes, axis); });
  return isNew || limit->second.size() < before;
}

/// Limits only ever lose axes, so this ends.
VariableSums SharedAccumulators::agree(const SymbolTable &symbols, MeshAttr mesh, VariableSums &sums,
                                       SumCauses &causes) const {
  VariableSums limits;
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (Operation *writer : writers) {
      PartialSums pending(cast<func::FuncOp>(writer), symbols, mesh, sums, causes, limits);
      pending.solve();
      for (auto &[name, axes] : pending.getAccumulatorSums())
        if (names.count(name))
          isChanged |= narrow(limits, name, axes);
    }
  }
  return limits;
}
