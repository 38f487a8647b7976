//===- ShapeOps.cpp - reshape and transpose -----------------------------------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/ShapeOps.cpp.inc"

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (getInput().getType().getNumElements() != getType().getNumElements())
    return emitOpError("reshape_c1: operand has ")
           << getInput().getType().getNumElements() << " elements, result " << getType().getNumElements();
  return success();
}

/// Walks both shapes from the outermost dimension, cutting common factors: [b·s, e] ↔ [b, s, e] gives b, s, e. Where sizes do not nest, the
/// rest up to the next common boundary is one factor that is not split.
RuleAttr ReshapeOp::getShardingRule() {
  RuleBuilder rule(*this);
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  size_t i = 0, j = 0;
  int64_t restI = from.empty() ? 1 : from[0], restJ = to.empty() ? 1 : to[0];
  auto advance = [](ArrayRef<int64_t> shape, size_t &dim, int64_t &rest) {
    if (++dim < shape.size())
      rest = shape[dim];
  };
  while (i < from.size() && j < to.size()) {
    if (restI == 1 && from[i] == 1) {
      advance(from, i, restI);
      continue;
    }
    if (restJ == 1 && to[j] == 1) {
      advance(to, j, restJ);
      continue;
    }
    int64_t size = std::min(restI, restJ), larger = std::max(restI, restJ);
    // Sizes that do not nest: no factor is shared until both dimensions end together, so neither may be split.
    bool nests = larger % size == 0;
    int64_t factor = rule.addFactor(nests ? size : restI, nests ? FactorKind::PassThrough : FactorKind::NeedReplication);
    if (!nests)
      return buildUnsplit();
    rule.mapOperand(0, i, factor).mapResult(0, j, factor);
    restI /= size;
    restJ /= size;
    if (restI == 1)
      advance(from, i, restI);
    if (restJ == 1)
      advance(to, j, restJ);
  }
  return rule.addLinear({0}).build();
}

/// Every dimension on its own, none of them split.
RuleAttr ReshapeOp::buildUnsplit() {
  RuleBuilder rule(*this);
  for (auto [dim, size] : llvm::enumerate(getInput().getType().getShape()))
    rule.mapOperand(0, dim, rule.addFactor(size, FactorKind::NeedReplication));
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    rule.mapResult(0, dim, rule.addFactor(size, FactorKind::NeedReplication));
  return rule.addLinear({0}).build();
}

LogicalResult ReshapeOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] = builder.create<ReshapeOp>(getLoc(), getInput().getType(), cotangents[0]);
  return success();
}

bool ReshapeOp::isCheapToRecompute() { return true; }

LogicalResult ReshapeOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results, InterpreterContext &) {
  results[0].values = operands[0].values;
  return success();
}

KernelKind ReshapeOp::getKernelKind() { return KernelKind::View; }

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  int64_t rank = getInput().getType().getRank();
  SmallVector<bool> seen(rank, false);
  SmallVector<int64_t> shape;
  for (int64_t dim : getPermutation()) {
    if (dim < 0 || dim >= rank || seen[dim])
      return emitOpError("transpose_c1: [") << getPermutation() << "] is no permutation of " << rank << " dimensions";
    seen[dim] = true;
    shape.push_back(getInput().getType().getDimSize(dim));
  }
  if (static_cast<int64_t>(shape.size()) != rank)
    return emitOpError("transpose_c1: [") << getPermutation() << "] is no permutation of " << rank << " dimensions";
  return verifyShape(*this, "transpose_c2", "result", getResult(), shape, "the operand's shape permuted");
}

RuleAttr TransposeOp::getShardingRule() {
  RuleBuilder rule(*this);
  for (auto [dim, source] : llvm::enumerate(getPermutation())) {
    int64_t factor = rule.addFactor(getType().getDimSize(dim));
    rule.mapOperand(0, source, factor).mapResult(0, dim, factor);
  }
  return rule.addLinear({0}).build();
}

LogicalResult TransposeOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0] || !needed[0])
    return success();
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [dim, source] : llvm::enumerate(getPermutation()))
    inverse[source] = dim;
  operandCotangents[0] = builder.create<TransposeOp>(getLoc(), getInput().getType(), cotangents[0], inverse);
  return success();
}

bool TransposeOp::isCheapToRecompute() { return true; }

LogicalResult TransposeOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results, InterpreterContext &) {
  SmallVector<int64_t> strides = rowMajorStrides(operands[0].shape());
  int64_t position = 0;
  forEachIndex(results[0].shape(), [&](ArrayRef<int64_t> index) {
    int64_t source = 0;
    for (auto [dim, from] : llvm::enumerate(getPermutation()))
      source += index[dim] * strides[from];
    results[0].values[position++] = operands[0].values[source];
  });
  return success();
}

KernelKind TransposeOp::getKernelKind() { return KernelKind::Primitive; }
