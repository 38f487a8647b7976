//===- PartialSums.h - where pending sums are reduced -----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_PARTIALSUMS_H
#define PAR_LIB_TRANSFORMS_PARTITION_PARTIALSUMS_H

#include "Causes.h"
#include "par/Sharding/FactorAssignment.h"

namespace mlir::par {

/// Axes over which the accumulators of a module are unreduced, by variable.
using VariableSums = std::map<std::string, Axes>;

/// Derives over which axes every value of one function is a partial sum and where the sums are carried out.
///
/// A sum over a split factor makes its result pending over the factor's axes. A pending value stays so if
/// every use accepts it: ops that are linear in a whole set of operands pending over the axis and whose
/// results are no larger, callees whose argument is unreduced, reshards (which reduce or pass on), and
/// accumulators. Otherwise it is reduced right where it is defined, once for all uses. Dimension shardings
/// must be settled before; callees done before callers.
class PartialSums {
public:
  /// Accumulators in `limits` are pending over no more than these axes.
  PartialSums(func::FuncOp function, const SymbolTable &symbols, MeshAttr mesh, VariableSums &variables,
              SumCauses &causes, const VariableSums &limits = {});

  void solve();
  /// Once solved: of the accumulators that the function writes.
  VariableSums getAccumulatorSums();
  /// Writes `unreduced` into the shardings and inserts the reducing reshards.
  void apply();

private:
  using Pending = llvm::SmallSetVector<StringAttr, 4>;
  /// The part of an op's rule that is about sums, for its shardings and whatever is pending.
  struct RuleSums {
    SmallVector<Pending, 1> own; ///< by result: sums that the op makes itself
    /// By axis of the mesh: sets of operands through all of which a sum over it would pass.
    SmallVector<SmallVector<DenseI64ArrayAttr, 1>, 4> linear;
  };

  bool step();
  Pending derive(Operation *op, unsigned result);
  Pending deriveThroughRule(Operation *op, const RuleSums &sums, unsigned result);
  bool passesReshard(ReshardOp reshard, StringAttr axis);
  bool accepts(OpOperand &use, StringAttr axis);
  bool acceptsReturn(func::ReturnOp exit, unsigned number);
  /// Null for an op without a rule.
  const RuleSums *getRuleSums(Operation *op);
  RuleSums readRule(Operation *op, RuleAttr rule);
  bool mayPass(Operation *op, StringAttr axis);
  bool grows(Operation *op, DenseI64ArrayAttr set);
  /// The linear set through which `op` passes sums pending over the mesh's axis of that number, null if it
  /// does not.
  DenseI64ArrayAttr findPassingSet(Operation *op, const RuleSums &sums, size_t axis);
  void settle(Value value, Pending pending);
  void keep(Value value, Pending pending);
  void settleTies();
  void initializeArguments(const VariableSums &limits);
  void retarget(ReshardOp reshard);
  void reduceAtDefinition(Value value);
  void matchCallees(CallOp call);
  void matchBindings();

  func::FuncOp function;
  const SymbolTable &symbols;
  MeshAttr mesh;
  VariableSums &variables;
  SumCauses &causes;
  func::ReturnOp exit;
  /// Pending when defined, and pending after the reduction at the definition.
  llvm::DenseMap<Value, Pending> raw, kept;
  llvm::DenseMap<Operation *, std::unique_ptr<RuleSums>> rules;
  /// Axes once rejected stay rejected: so the iteration ends.
  llvm::DenseMap<Value, Pending> rejected;
  /// True while nobody is asked whether it accepts.
  bool optimistic = true;
  /// True if a step has found something else than the one before.
  bool changed = false;
  /// Result of the function → the argument it overwrites.
  llvm::DenseMap<unsigned, unsigned> ties;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_PARTIALSUMS_H
