//===- VerifyShape.h - messages of shape constraints ------------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_VERIFYSHAPE_H
#define PAR_DIALECT_PAR_IR_VERIFYSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "par/Interfaces/ElementBuilder.h"

namespace mlir::par {

/// Constraint `code`: `name` has shape `expected`, which is `reason` ("all but the last dimension of the
/// input").
LogicalResult verifyShape(Operation *op, StringRef code, StringRef name, Value value,
                          ArrayRef<int64_t> expected, StringRef reason);

/// Constraint `code`: `name` has at least `rank` dimensions.
LogicalResult verifyMinRank(Operation *op, StringRef code, StringRef name, Value value, int64_t rank);

/// Constraint `code`: `a` and `b` have one element type.
LogicalResult verifyElementType(Operation *op, StringRef code, StringRef nameA, Value a, StringRef nameB,
                                Value b);

/// Success if all checks succeeded. The braces evaluate every check, in order: one run reports all
/// violations.
inline LogicalResult verifyAll(std::initializer_list<LogicalResult> checks) {
  return success(llvm::all_of(checks, [](LogicalResult check) { return succeeded(check); }));
}

/// A shape as "8x128x64"; "a scalar" for rank 0.
std::string printShape(ArrayRef<int64_t> shape);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_VERIFYSHAPE_H
