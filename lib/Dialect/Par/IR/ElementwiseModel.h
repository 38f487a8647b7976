//===- ElementwiseModel.h - par's interfaces for elementwise arith and math ops ---------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_ELEMENTWISEMODEL_H
#define PAR_DIALECT_PAR_IR_ELEMENTWISEMODEL_H

#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"

namespace mlir::par {

/// What every elementwise op has in common. `Derived` gives `linearSets()`, `zeroToZero`, `evaluate(op,
/// scalars)`, `derive(builder, op, dy, operand)` and `emit(op, builder, index)`.
template <typename Derived, typename Op>
struct ElementwiseRule : ShardingRuleOpInterface::ExternalModel<ElementwiseRule<Derived, Op>, Op> {
  RuleAttr getShardingRule(Operation *op) const { return RuleBuilder::pointwise(op, Derived::linearSets()); }
  bool mapsZeroToZero(Operation *) const { return Derived::zeroToZero; }
};

template <typename Derived, typename Op>
struct ElementwiseInterpret : InterpretableOpInterface::ExternalModel<ElementwiseInterpret<Derived, Op>, Op> {
  LogicalResult interpret(Operation *op, ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                          InterpreterContext &) const {
    SmallVector<double> scalars(operands.size());
    for (int64_t i = 0; i < results[0].size(); ++i) {
      for (auto [number, operand] : llvm::enumerate(operands))
        scalars[number] = operand.values[operand.size() == 1 ? 0 : i];
      results[0].values[i] = Derived::evaluate(cast<Op>(op), scalars);
    }
    return success();
  }
};

template <typename Derived, typename Op>
struct ElementwiseGradient : DifferentiableOpInterface::ExternalModel<ElementwiseGradient<Derived, Op>, Op> {
  LogicalResult differentiate(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                              SmallVectorImpl<Value> &operandCotangents) const {
    if (!cotangents[0])
      return success();
    for (unsigned number = 0; number < op->getNumOperands(); ++number)
      if (needed[number])
        operandCotangents[number] = Derived::derive(builder, cast<Op>(op), cotangents[0], number);
    return success();
  }
};

template <typename Derived, typename Op>
struct ElementwiseCost : CostOpInterface::ExternalModel<ElementwiseCost<Derived, Op>, Op> {};

template <typename Derived, typename Op>
struct ElementwiseKernel : KernelOpInterface::ExternalModel<ElementwiseKernel<Derived, Op>, Op> {
  OpClass getOpClass(Operation *) const { return OpClass::Elementwise; }
  FailureOr<Value> emitElement(Operation *op, ElementBuilder &builder, ArrayRef<Value> index) const {
    return Derived::emit(op, builder, index);
  }
};

/// Attaches all five interfaces of one op.
template <typename Derived, typename Op>
void attachElementwise(MLIRContext *context) {
  Op::template attachInterface<ElementwiseRule<Derived, Op>, ElementwiseInterpret<Derived, Op>,
                               ElementwiseGradient<Derived, Op>, ElementwiseCost<Derived, Op>,
                               ElementwiseKernel<Derived, Op>>(*context);
}

/// Base of the descriptions below: not linear, zero does not stay zero, no derivative, and an element is the
/// op on elements, rounded.
struct Elementwise {
  static FailureOr<Value> emit(Operation *op, ElementBuilder &builder, ArrayRef<Value> index) {
    return emitElementwise(op, builder, index);
  }
  static constexpr bool zeroToZero = false;
  static SmallVector<SmallVector<int64_t>> linearSets() { return {}; }
  static Value derive(OpBuilder &, Operation *, Value, unsigned) { return nullptr; }
};

/// Of what chooses or changes a sign alone: that gives a number of the type already.
struct ExactElementwise : Elementwise {
  static FailureOr<Value> emit(Operation *op, ElementBuilder &builder, ArrayRef<Value> index) {
    return emitElementwise(op, builder, index, /*isExact=*/true);
  }
};

void registerArithModels(DialectRegistry &registry);
void registerMathModels(DialectRegistry &registry);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_ELEMENTWISEMODEL_H
