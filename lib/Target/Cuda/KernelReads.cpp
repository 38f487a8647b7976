//===- KernelReads.cpp - what elements of rows are made of ----------------------------------------===//
#include "KernelReads.h"

using namespace mlir;
using namespace mlir::par;

bool KernelReads::collect(Value value, const Symbols &symbols) {
  if (!visited.insert({value.getAsOpaquePointer(), symbols}).second)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    reads.push_back({argument, symbols});
    return true;
  }
  return collectOperation(value.getDefiningOp(), symbols);
}

bool KernelReads::collectOperation(Operation *op, const Symbols &symbols) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return isSplatConstant(op) || refuse("reads a table of constants");
  if (getOpClass(op) == OpClass::Index)
    return true;
  if (auto expand = dyn_cast<ExpandOp>(op))
    return collect(expand.getInput(), dropDims<int64_t>(symbols, expand.getDims()));
  if (auto transpose = dyn_cast<TransposeOp>(op); transpose && mayTurn)
    return collect(transpose.getInput(), turnBack<int64_t>(symbols, transpose.getPermutation()));
  if (auto sum = dyn_cast<ReduceOp>(op))
    return collectSum(sum, symbols);
  // What else it reads (keys, offsets) is the same for all elements.
  if (getOpClass(op) == OpClass::Placed)
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return getShape(operand) != getShape(op->getResult(0)) || collect(operand, symbols);
    });
  if (!isElementwise(op))
    return refuse(op->getName().getStringRef().str() + " in rows");
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return collect(operand, getShape(operand).empty() ? Symbols() : symbols);
  });
}

bool KernelReads::collectSum(ReduceOp sum, const Symbols &symbols) {
  Symbols whole = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  bool isOfRow = rowDims + 1 == shape.size() && getShape(sum.getInput()) == shape &&
                 sum.getDims() == ArrayRef(whole).take_back(1) &&
                 ArrayRef(symbols) == ArrayRef(whole).take_front(rowDims);
  Type type = Scalars::getHeldType(sum.getResult());
  if (!isOfRow)
    return refuse("a sum that is not of a row");
  if (!type.isF32() && !type.isInteger(32))
    return refuse("a sum of neither f32 nor i32");
  return collect(sum.getInput(), whole);
}
