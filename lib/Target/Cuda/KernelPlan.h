//===- KernelPlan.h - how the threads of a GPU share a kernel -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_KERNELPLAN_H
#define PAR_LIB_TARGET_CUDA_KERNELPLAN_H

#include "../Kernels/HoistPlan.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

enum class PlanKind {
  Generic,     ///< any kernel: a part per thread
  Elementwise, ///< as generic, with whole accesses
  Gather,      ///< the same, of elements that lie in other places, as many side by side
  Flat,        ///< elements whose rows are no whole accesses, but all of them together are
  Tile, ///< elements whose rows are another dimension's in what they are made of: a square for each thread
  Row,  ///< a group of threads keeps a row in registers
  RowColumn, ///< as Row; a group goes on with its sums over rows from row to row, and Finish adds them up
  LongRow,   ///< a block walks a row as often as its sums depend on each other
  Column,    ///< sums over leading dimensions: a block for a few columns and a slice of the rows
  Total,     ///< a sum of all elements: a block for a slice of them
  Totals,    ///< the same, of a list of tensors
  Finish,    ///< the launch behind one of the others: adds up what its slices have come to
  Fill,      ///< what the sums of Scatter begin with
  Scatter,   ///< rows that are added to those of a table: a warp for each row that is added to
  // Of rank.attention (Attention/).
  AttentionForward, ///< a block has queries and walks the keys
  AttentionQueries, ///< gradients of queries: the same
  AttentionKeys,    ///< gradients of keys and values: a block has keys and walks the queries
};
StringRef getName(PlanKind kind);

/// The widest access that there is.
inline constexpr int64_t kAccessBytes = 16;
inline constexpr int32_t kWarp = 32;

/// A tensor that elements are made of; `symbols` are the dimensions of plan.shape that its own run along.
struct Read {
  BlockArgument tensor;
  Symbols symbols;
  bool isLate = false; ///< not kept in registers while threads sum up rows, but loaded where it is needed
};

/// Rows, of which each has `columns` elements: the dimensions of `shape` from `rowDims` on. A sum over slices
/// is one of `sums`; what it comes to in a slice lies in a scratch buffer [slices, columns] of f32.
struct KernelPlan {
  PlanKind kind = PlanKind::Generic;
  std::string reason; ///< why it is generic
  SmallVector<int64_t> shape;
  size_t rowDims = 0;
  SmallVector<Read> reads;       ///< of elements of rows
  SmallVector<Operation *> sums; ///< over rows (Column, RowColumn), or of everything (Total, Totals)
  SmallVector<EinsumOp> dots;    ///< of Totals, by the shapes and types of their tensors; the sum is theirs
  SmallVector<size_t> ofSums;    ///< numbers of outputs that are made of them
  EmbeddingBackwardOp scatter;   ///< of Scatter
  Value initial;                 ///< to which it adds; null: zero
  int64_t step = 1;              ///< consecutive elements of a row that a thread takes at a time
  int64_t slices = 1;            ///< 1: sums need no scratch, except with RowColumn and Totals
  int32_t threads = 0;           ///< of a group that shares a row
  int64_t groups = 0;            ///< of Row: so many go on from row to row
  int64_t across = -1;           ///< of Tile: the dimension of `shape` along which rows of reads run
  bool sharesSums = false;       ///< of RowColumn: sums over rows lie in shared memory, not in registers

  int64_t countRows() const { return ShapedType::getNumElements(ArrayRef(shape).take_front(rowDims)); }
  int64_t countColumns() const { return ShapedType::getNumElements(ArrayRef(shape).drop_front(rowDims)); }
  int64_t countSteps() const { return countColumns() / step; }
  /// True for what is read along a row, or along that of Tile's other side.
  bool isAlongRow(const Read &read) const {
    return llvm::is_contained(read.symbols, static_cast<int64_t>(shape.size()) - 1) ||
           (across >= 0 && llvm::is_contained(read.symbols, across));
  }
  /// True for what is another in each row.
  bool isOfRows(const Read &read) const {
    return llvm::any_of(read.symbols, [&](int64_t symbol) { return symbol < static_cast<int64_t>(rowDims); });
  }
  bool hasLateReads() const {
    return llvm::any_of(reads, [](const Read &read) { return read.isLate; });
  }
  /// Groups of a warp share a block. Those of several have one each: they meet in its barriers.
  int32_t countThreadsOfBlock() const { return threads == kWarp ? 4 * kWarp : threads; }
  /// Of a block's shared memory, where sums over rows lie there: a place for each element of each thread.
  int64_t countSharedBytes() const {
    int64_t kept = llvm::divideCeilSigned(countSteps(), threads) * step;
    return sharesSums ? kept * threads * static_cast<int64_t>(sums.size()) * 4 : 0;
  }
  /// Numbers that each of `sums` comes to.
  int64_t countColumnSums() const { return isTotal() ? 1 : countColumns(); }
  bool isTotal() const { return kind == PlanKind::Total || kind == PlanKind::Totals; }
  /// True if sums lie in scratch between two launches.
  bool hasScratch() const { return kind == PlanKind::RowColumn || kind == PlanKind::Totals || slices > 1; }
};

/// True if `value` is made of a result of one of `ops`.
bool isMadeOf(Value value, ArrayRef<Operation *> ops);

/// Numbers of the arguments that `values` are made of, as far as they are not made of results of `known`.
SmallVector<int64_t> findArguments(ValueRange values, ArrayRef<Operation *> known);

/// For a region that decomposeKernel has simplified. What it decides depends on nothing else, so that a
/// workspace is planned for what is written later.
KernelPlan planKernel(Block &block);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_KERNELPLAN_H
