//===- RuleBuilder.h - writing sharding rules -------------------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_RULEBUILDER_H
#define PAR_DIALECT_PAR_IR_RULEBUILDER_H

#include "mlir/IR/Operation.h"
#include "par/Dialect/Par/IR/ParAttributes.h"

namespace mlir::par {

/// Builds the rule of one op: add factors, map dimensions to them, name the linear operand sets.
class RuleBuilder {
public:
  explicit RuleBuilder(Operation *op);

  /// A new factor; returns its number.
  int64_t addFactor(int64_t size, FactorKind kind = FactorKind::PassThrough);
  /// Appends `factor` (as the next minor one) to a dimension.
  RuleBuilder &mapOperand(int64_t operand, int64_t dim, int64_t factor);
  RuleBuilder &mapResult(int64_t result, int64_t dim, int64_t factor);
  /// All results are jointly linear in these operands.
  RuleBuilder &addLinear(ArrayRef<int64_t> operands);
  RuleAttr build() const;

  /// Operands and results of one shape; a factor per dimension, all pass-through. Operands of rank 0 are left
  /// out.
  static RuleAttr pointwise(Operation *op, ArrayRef<SmallVector<int64_t>> linear = {});

private:
  TensorFactorsAttr makeFactors(const SmallVector<SmallVector<int64_t>> &tensor) const;

  MLIRContext *context;
  SmallVector<SmallVector<SmallVector<int64_t>>> operands, results;
  SmallVector<int64_t> sizes;
  SmallVector<FactorKind> kinds;
  SmallVector<SmallVector<int64_t>> linear;
};

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_RULEBUILDER_H
