//===- FactorAssignment.h - which axes split which factor of an op ----------------------------*- C++ -*-===//
#ifndef PAR_SHARDING_FACTORASSIGNMENT_H
#define PAR_SHARDING_FACTORASSIGNMENT_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

using Axes = SmallVector<StringAttr>;
/// Axes per dimension of one tensor, major first.
using DimAxes = SmallVector<Axes>;

/// What is known of one op: its rule, and per operand and result the axes of every dimension at present.
struct ShardedOp {
  RuleAttr rule;
  MeshAttr mesh;
  SmallVector<DimAxes> operands, results;
  SmallVector<RankedTensorType> operandTypes, resultTypes;
  /// Results whose sharding is not decided yet: taking another one costs nothing.
  SmallVector<bool> freeResults;
  /// Floating-point operations of the whole op, to weigh idle ranks against traffic.
  double flops = 0;
  /// What a device does while it sends one byte. An order of magnitude is enough: it only breaks ties.
  double flopsPerByte;
};

/// An op as it stands, with the axes that `getAxes` gives each of its values; no result is free.
ShardedOp describeOp(Operation *op, RuleAttr rule, MeshAttr mesh, double flopsPerByte,
                     llvm::function_ref<DimAxes(Value)> getAxes);

/// Axes per factor.
using FactorAxes = SmallVector<Axes>;

/// The assignment of axes to factors with the least modelled cost. Candidates let one tensor after another
/// have its way first; an axis splits at most one factor, and only factors that may be split (dimensions of
/// several factors only evenly).
FactorAxes assignFactors(const ShardedOp &op);

/// Axes per dimension that an assignment means for a tensor.
DimAxes projectFactors(TensorFactorsAttr tensor, const FactorAxes &factors);

/// Axes of every factor as operands and results of an op that agree with one assignment have them.
FactorAxes readFactors(RuleAttr rule, ArrayRef<ShardingAttr> operands, ArrayRef<ShardingAttr> results);

/// Axes over which result `result` is a partial sum under an assignment.
Axes pendingAxes(RuleAttr rule, const FactorAxes &factors, unsigned result);

DimAxes getDimAxes(ShardingAttr sharding);
ShardingAttr makeSharding(MLIRContext *context, StringRef mesh, const DimAxes &dims,
                          ArrayRef<StringAttr> unreduced = {});

} // namespace mlir::par

#endif // PAR_SHARDING_FACTORASSIGNMENT_H
