//===- Lemma.h - where an op's results are, given where its operands are -----------------------*- C++
//-*-===//
#ifndef PAR_LIB_JUDGE_LEMMA_H
#define PAR_LIB_JUDGE_LEMMA_H

#include "Held.h"
#include "OpNumbers.h"

namespace mlir::par {

/// One op of a rank's program and what it reads.
class LemmaContext {
public:
  LemmaContext(Operation *op, ArrayRef<Held> operands, MeshAttr mesh, OpNumbers &numbers,
               llvm::function_ref<bool(const Number &)> isKnown)
      : op(op), operands(operands), mesh(mesh), numbers(numbers), isKnown(isKnown) {}

  Operation *op;
  ArrayRef<Held> operands;
  MeshAttr mesh;
  OpNumbers &numbers;
  /// Whether one device computes that value. It chooses between two things that both are true of a result.
  llvm::function_ref<bool(const Number &)> isKnown;

  /// Why no lemma holds: a sentence about the op.
  LogicalResult refuse(const Twine &why) {
    reason = why.str();
    return failure();
  }
  std::string reason;
  /// The last operand says where a rank's shard begins, and is checked: it is no part of what is computed.
  bool hasOffset = false;

  int64_t extent(unsigned operand, int64_t dim) const {
    return cast<RankedTensorType>(op->getOperand(operand).getType()).getDimSize(dim);
  }
  bool isPadded(unsigned operand, int64_t dim) const {
    return par::isPadded(operands[operand].dims[dim], extent(operand, dim), mesh);
  }
};

/// What ranks hold of the results. Fails with a reason where nothing is known of such operands.
FailureOr<SmallVector<Held, 0>> applyLemma(LemmaContext &context);

/// What follows from the op's rule.
FailureOr<SmallVector<Held, 0>> applyRule(LemmaContext &context, RuleAttr rule);

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_LEMMA_H
