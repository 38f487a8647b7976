//===- Localizer.h - what an op needs to write itself on one rank's shards --------------------*- C++ -*-===//
#ifndef PAR_INTERFACES_LOCALIZER_H
#define PAR_INTERFACES_LOCALIZER_H

#include "mlir/IR/Builders.h"
#include "par/Dialect/Par/IR/ParAttributes.h"

namespace mlir::par {

/// One op being partitioned: its local operands, its local result types and the axes of its factors.
class Localizer {
public:
  Localizer(OpBuilder &builder, Operation *op, RuleAttr rule, MeshAttr mesh, ValueRange operands,
            TypeRange resultTypes, ArrayRef<SmallVector<StringAttr>> factorAxes)
      : builder(builder), op(op), rule(rule), mesh(mesh), operands(operands), resultTypes(resultTypes),
        factorAxes(factorAxes) {}

  OpBuilder &builder;
  Operation *op; ///< the global op
  RuleAttr rule; ///< its rule
  MeshAttr mesh;
  ValueRange operands;                          ///< local
  TypeRange resultTypes;                        ///< local
  ArrayRef<SmallVector<StringAttr>> factorAxes; ///< per factor of `rule`, major first; empty = not sharded

  /// The op with local operands and result types.
  FailureOr<SmallVector<Value>> clone();
  /// The factors of dimension `dim` of operand or result; see RuleAttr.
  bool isSharded(int64_t factor) const { return !factorAxes[factor].empty(); }
  /// Number of shards of a factor.
  int64_t getShards(int64_t factor) const;
  /// tensor<i32>: global index of this rank's first element along a factor of which it holds `localSize`
  /// elements: row-major coordinate over the factor's axes × localSize.
  Value offset(int64_t factor, int64_t localSize);
  /// par.all_reduce of `value` over the axes of `factor`.
  Value allReduce(ReduceKind kind, Value value, int64_t factor);
};

/// tensor<i32>: row-major coordinate of this rank over `axes` (major first); constant 0 for no axes.
Value buildAxisIndex(OpBuilder &builder, Location loc, MeshAttr mesh, ArrayRef<StringAttr> axes);

} // namespace mlir::par

#endif // PAR_INTERFACES_LOCALIZER_H
