//===- SharedAccumulators.h - accumulators to which several functions add ---------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_SHAREDACCUMULATORS_H
#define PAR_LIB_TRANSFORMS_PARTITION_SHAREDACCUMULATORS_H

#include "PartialSums.h"
#include "llvm/ADT/SetVector.h"
#include <set>

namespace mlir::par {

/// Accumulators to which several functions add: those of a parameter that several chunks read, or whose
/// gradient both a backward function and its weight part compute. They are pending over the same axes in all.
class SharedAccumulators {
public:
  SharedAccumulators(ArrayRef<func::FuncOp> functions, const SymbolTable &symbols);

  bool writes(func::FuncOp function) const { return writers.contains(function); }
  bool accesses(func::FuncOp function) const { return writes(function) || readers.contains(function); }

  /// The axes over which all functions that write an accumulator keep it pending, once their dimensions are
  /// settled.
  VariableSums agree(const SymbolTable &symbols, MeshAttr mesh, VariableSums &sums, SumCauses &causes) const;

private:
  llvm::SetVector<Operation *> writers, readers;
  std::set<std::string> names;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_SHAREDACCUMULATORS_H
