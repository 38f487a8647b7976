//===- Lemma.h - where an op's results are, given where its operands are --------------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_LEMMA_H
#define PAR_LIB_JUDGE_LEMMA_H

#include "Held.h"
#include "OpNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

  /// Fails because of `why`, which goes on behind the op's name.
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

/// The results of an op, as ranks hold them; or failure, the context's reason being set.
using LemmaResult = FailureOr<SmallVector<Held, 0>>;

inline SmallVector<Held, 0> one(Held held) { return {std::move(held)}; }

/// Holds for every op of a rank's program; fails with a reason where nothing is known of such operands.
LemmaResult applyLemma(LemmaContext &context);

/// Follows from the op's sharding rule.
LemmaResult applyRule(LemmaContext &context);

// IndexLemmas.cpp: integers that follow from indices and coordinates, and masks of them.

/// Whether it is `extent` times the row-major coordinate over `axes`: the index of a shard's first element.
bool isOffset(const Affine &affine, ArrayRef<StringAttr> axes, int64_t extent, MeshAttr mesh);
/// The axes over which an index plus these coordinates is an index of the one-device value, major first.
std::optional<Axes> findCut(const Affine &affine, int64_t extent, MeshAttr mesh);
LemmaResult applyToIntegers(LemmaContext &context);
LemmaResult applyToAxisIndex(LemmaContext &context, AxisIndexOp op);
LemmaResult applyToIota(LemmaContext &context, IotaOp op);
LemmaResult applyToConstant(LemmaContext &context, arith::ConstantOp op);
LemmaResult applyToComparison(LemmaContext &context, arith::CmpIOp op);
LemmaResult applyToExpand(LemmaContext &context, ExpandOp op);
LemmaResult applyToSelect(LemmaContext &context);

// ExchangeLemmas.cpp: collectives.

/// Axes larger than 1.
Axes readAxes(ArrayAttr axes, MeshAttr mesh);
LemmaResult applyToExchange(LemmaContext &context);

// BlockLemmas.cpp: tensors of which a rank holds several blocks of a dimension.

/// Exchanges, transposes and reshapes of any blocks.
LemmaResult applyToBlocks(LemmaContext &context);
/// Two descriptions of results. Both are true; where one alone is of dimensions it is that, else the one that
/// one device computes.
LemmaResult choose(LemmaContext &context, LemmaResult dims, LemmaResult blocks);

// ShapeLemmas.cpp: pads and slices, reshapes, lists of offsets.

LemmaResult applyToResize(LemmaContext &context, ArrayRef<int64_t> offsets);
LemmaResult applyToReshape(LemmaContext &context);
LemmaResult applyToConcat(LemmaContext &context);

// ShardLemmas.cpp: ops that know where their shard lies.

LemmaResult applyToTakeRows(LemmaContext &context);
/// `idsAreChecked`: no id names a row beyond the table, so that its padding stays zero.
LemmaResult applyToAddRows(LemmaContext &context, bool idsAreChecked);
LemmaResult applyToCrossEntropyShard(LemmaContext &context, CrossEntropyShardOp op);
LemmaResult applyToCrossEntropyBackward(LemmaContext &context, CrossEntropyBackwardOp op);
LemmaResult applyToDropout(LemmaContext &context);
LemmaResult applyToAttention(LemmaContext &context, AttentionOp op);
LemmaResult applyToAttention(LemmaContext &context, AttentionBackwardOp op);
LemmaResult applyToNorm(LemmaContext &context, RmsNormOp op);
LemmaResult applyToNorm(LemmaContext &context, RmsNormBackwardOp op);
/// A sum, a difference or an exponential of a logarithm that is pending.
LemmaResult applyToLogarithm(LemmaContext &context);

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_LEMMA_H
