//===- AttentionKernel.h - what the kernels of attention have in common -------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONKERNEL_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONKERNEL_H

#include "../KernelEntry.h"
#include "AttentionPlan.h"
#include "DropoutFactors.h"
#include "Visibility.h"
#include "WarpProduct.h"

namespace mlir::par {

struct AttentionTask {
  OpBuilder &builder;
  rank::AttentionOp work;
  StringRef name;
  const AttentionCall &call;
  AttentionPlan plan;
  bool isAligned; ///< buffers begin at multiples of kAccessBytes

  Location getLoc() const { return work->getLoc(); }
};

/// The entry of a kernel, and its parts in a block. Scores are in units of the exponential that is used:
/// natural ones in f32; bf16 has powers of two, which a GPU computes itself, to 2 units in the last place.
class AttentionKernel {
public:
  using Access = std::pair<int64_t, BufferAccess>;

  /// `next`: the launch behind it, if there is one.
  AttentionKernel(const AttentionTask &task, ArrayRef<Access> accesses, std::string next);

protected:
  bool isBf16() const { return call.type.isBF16(); }
  /// Blocks of a head.
  int64_t countTiles() const {
    int64_t rows = plan.pass == AttentionPass::Keys ? call.kRows : call.qRows;
    return llvm::divideCeilSigned(rows, plan.countRows());
  }
  Value getMemory(int64_t operand) const { return memories.lookup(operand); }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  /// Rows of a head: of `perSequence` rows in each sequence.
  HeadRows findHead(BufferRows rows, Value batch, Value head, int64_t perSequence);
  HeadRows findQueries(BufferRows rows, Value batch, Value head) {
    return findHead(rows, batch, head, call.qRows);
  }
  HeadRows findKeys(BufferRows rows, Value batch, Value kvHead) {
    return findHead(rows, batch, kvHead, call.kRows);
  }
  /// The number that a head has for a row, in [batch, heads, q rows] of f32.
  Value findNumber(int64_t operand, Value batch, Value head, Value row);
  /// How a launch that writes these rows accesses their buffer.
  static BufferAccess getAccess(BufferRows rows, int64_t width) {
    return rows.stride == width ? BufferAccess::Write : BufferAccess::Update;
  }

  SharedTile makeTile(int64_t offset, int64_t rows) {
    return SharedTile(code, shared, offset, call.type, rows, plan.columns);
  }
  /// One of the arrays of a number for each of the others' rows.
  Value getNumbers(int64_t array) {
    return code.address(shared, code.builder.getI8Type(), places.numbers[array]);
  }
  Fragments makeSums(int64_t columns) {
    return Fragments(plan.bands, columns / Fragments::kColumns, code.real(0));
  }
  /// What a warp has added up goes to rows from `firstRow` on, through those of a tile that are its own.
  void storeRows(const Fragments &sums, const SharedTile &tile, const HeadRows &to, Value firstRow);

  //===--------------------------------------------------------------------===//
  // Scores
  //===--------------------------------------------------------------------===//

  /// What scores are multiplied by.
  double getScale() const { return call.scale * getUnit(); }
  /// Units of scores in a natural one.
  double getUnit() const { return isBf16() ? 1.4426950408889634 : 1.0; }
  /// 0 of −∞.
  Value exponential(Value score);
  /// What the exponential of a row's scores has to be divided by, as a score; infinite without any key, so
  /// that all exponentials are 0.
  Value toDivisor(Value lse);

  const AttentionTask &task;
  const AttentionCall &call;
  const AttentionPlan &plan;
  const SharedPlaces places;

private:
  OpBuilder &enter(ArrayRef<Access> accesses, std::string next);
  int64_t findAccess(BufferRows rows) const;

  llvm::DenseMap<int64_t, Value> memories;

protected:
  BlockCode code;
  Visibility visibility;
  Value shared;  ///< memory of the block
  Value warpRow; ///< the first of the warp's rows in the block's
  std::optional<SharedTile> staging;
  std::unique_ptr<WarpProduct> product;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONKERNEL_H
