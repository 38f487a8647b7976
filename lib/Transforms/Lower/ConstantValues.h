//===- ConstantValues.h - values that no input changes ----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_CONSTANTVALUES_H
#define PAR_LIB_TRANSFORMS_LOWER_CONSTANTVALUES_H

#include "mlir/IR/IRMapping.h"
#include "par/Dialect/Par/IR/Places.h"

namespace mlir::par {

/// Who calls the functions of a module.
class Callers {
public:
  explicit Callers(ModuleOp module);

  ArrayRef<par::CallOp> getCalls(func::FuncOp callee) const;
  /// True if the callee writes a result over the operand.
  static bool isOverwritten(func::FuncOp callee, unsigned operand);
  bool isOverwritten(par::CallOp call, unsigned operand) const;
  ArrayRef<func::FuncOp> getCalleesFirst() const { return calleesFirst; }

private:
  SmallVector<func::FuncOp> calleesFirst; ///< every function with a body
  llvm::DenseMap<Operation *, SmallVector<par::CallOp>> calls;
  llvm::DenseMap<Operation *, func::FuncOp> callees; ///< by call
};

/// Values made of splats, positions, mesh coordinates, and of arguments for which every call has such a
/// value: each call of a function finds them as it did in the step before.
class ConstantValues {
public:
  explicit ConstantValues(const Callers &callers) : callers(callers) {}

  bool contains(Value value) const;
  /// The value, made again where `builder` stands; `mapping` has what arguments are there.
  static Value copy(Value value, OpBuilder &builder, IRMapping &mapping);

private:
  bool contains(BlockArgument argument) const;

  const Callers &callers;
};

/// Element i of a tensor, in row-major order, is first + step · i.
struct Sequence {
  TypedAttr first; ///< i32 or f32
  int64_t step = 0;
};

/// The sequence that a value of constants alone is; none if it is none.
std::optional<Sequence> findSequence(Value value);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_CONSTANTVALUES_H
