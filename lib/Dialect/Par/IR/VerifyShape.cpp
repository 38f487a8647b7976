//===- VerifyShape.cpp - messages of shape constraints --------------------------------------------------===//
#include "VerifyShape.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::par;

std::string par::printShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "a scalar";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return text;
}

LogicalResult par::verifyShape(Operation *op, StringRef code, StringRef name, Value value,
                               ArrayRef<int64_t> expected, StringRef reason) {
  if (getShape(value) == expected)
    return success();
  return op->emitOpError() << code << ": " << name << " is " << printShape(getShape(value)) << ", expected "
                           << printShape(expected) << ": " << reason;
}

LogicalResult par::verifyMinRank(Operation *op, StringRef code, StringRef name, Value value, int64_t rank) {
  auto actual = static_cast<int64_t>(getShape(value).size());
  if (actual >= rank)
    return success();
  return op->emitOpError() << code << ": " << name << " has rank " << actual << ", expected at least "
                           << rank;
}

LogicalResult par::verifyElementType(Operation *op, StringRef code, StringRef nameA, Value a, StringRef nameB,
                                     Value b) {
  Type typeA = getElementTypeOrSelf(a.getType()), typeB = getElementTypeOrSelf(b.getType());
  if (typeA == typeB)
    return success();
  return op->emitOpError() << code << ": " << nameA << " has elements of type " << typeA << ", " << nameB
                           << " of type " << typeB << "; they must be equal";
}
