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

  /// Rows of a head of `columns` elements: of `perSequence` rows in each sequence.
  HeadRows findHead(BufferRows rows, Value batch, Value head, int64_t perSequence, int64_t columns);
  /// The first is for q and its gradient, the second for out and its gradient.
  HeadRows findQueries(BufferRows rows, Value batch, Value head) {
    return findHead(rows, batch, head, call.qRows, call.headDim);
  }
  HeadRows findOutputs(BufferRows rows, Value batch, Value head) {
    return findHead(rows, batch, head, call.qRows, call.valueDim);
  }
  HeadRows findKeys(BufferRows rows, Value batch, Value kvHead) {
    return findHead(rows, batch, kvHead, call.kRows, call.headDim);
  }
  HeadRows findValues(BufferRows rows, Value batch, Value kvHead) {
    return findHead(rows, batch, kvHead, call.kRows, call.valueDim);
  }
  /// The number that a head has for a row, in [batch, heads, q rows] of f32.
  Value findNumber(int64_t operand, Value batch, Value head, Value row);
  /// How a launch that writes these rows accesses their buffer.
  static BufferAccess getAccess(BufferRows rows, int64_t width) {
    return rows.stride == width ? BufferAccess::Write : BufferAccess::Update;
  }

  SharedTile makeTile(int64_t offset, int64_t rows, int64_t columns) {
    return SharedTile(code, shared, offset, call.type, rows, columns);
  }
  /// One of the arrays of a number for each of the others' rows, and that of their documents.
  Value getNumbers(int64_t array) { return getPlace(places.numbers[array]); }
  Value getDocuments() { return getPlace(places.documents); }
  /// The document of one of the others' rows in its tile; null where there are no documents.
  Value getDocument(Value number);
  Fragments makeSums(int64_t columns) {
    return Fragments(plan.bands, columns / Fragments::kColumns, code.real(0));
  }
  /// The columns of a tile that this block adds up, of a head's.
  SharedTile getSummed(const SharedTile &tile, HeadColumns of) {
    return part ? tile.from(code.times(part, of.sums)) : tile;
  }
  /// Stores sums: those of a warp over a head's columns go to rows from `firstRow` on, through those that are
  /// its own where a tile lay.
  void storeRows(const Fragments &sums, const SharedTile &tile, HeadColumns of, HeadRows to, Value firstRow);

  //===--------------------------------------------------------------------===//
  // Tables of rows
  //===--------------------------------------------------------------------===//

  RowTables findTables(int64_t positions, int64_t documents, Value batch, int64_t rows);
  /// From the first to behind the last row of a tile that has rows of some documents, of all `rows` of a
  /// table; without documents all of them.
  NumberRange findTiles(RowTables tables, NumberRange documents, int64_t rows);

  //===--------------------------------------------------------------------===//
  // Scores
  //===--------------------------------------------------------------------===//

  /// Units of scores in a natural one.
  double getUnit() const { return isBf16() ? 1.4426950408889634 : 1.0; }
  /// A capped score is kept as the number that the cap is made of: a tangent, or in bf16 the sigmoid of twice
  /// its argument minus 1, from −1 to 0. In units of the exponential it is that times the first of these,
  /// plus the second.
  std::pair<double, double> getCapUnits() const {
    double cap = call.cap * getUnit();
    return isSigmoid() ? std::pair(2 * cap, cap) : std::pair(cap, 0.0);
  }
  bool isSigmoid() const { return call.cap > 0 && isBf16() && !call.hasRoughCap(); }
  /// Sums of gradients of scores are multiplied by it.
  double getGradientScale() const { return isSigmoid() ? 4 * call.scale : call.scale; }
  /// The score of a product of a query and a key.
  Value toScore(Value product);
  /// 0 of −∞.
  Value exponential(Value score);
  /// The exponential of a score with something subtracted from it.
  Value exponential(Value score, Value base) { return exponential(subtractBase(score, base)); }
  /// A base is in units of the exponential. With a cap it is there with its sign changed, so that units and
  /// base are one instruction.
  Value toBase(Value score);
  Value subtractBase(Value score, Value base);
  /// Subtracts a base from a score that has been one itself: 0 if it is this one.
  Value subtractBases(Value score, Value base);
  /// The divisor of the exponentials of a row's scores, as a base. It is infinite without any key, so that
  /// all exponentials are 0.
  Value toDivisor(Value lse);
  /// The divisor of a row without keys.
  double getNoDivisor() const;
  /// The slope of a capped score, 1 − (score / cap)². A sigmoid has a quarter of it.
  Value getSlope(Value score);

  const AttentionTask &task;
  const AttentionCall &call;
  const AttentionPlan &plan;
  const SharedPlaces places;

private:
  OpBuilder &enter(ArrayRef<Access> accesses, std::string next);
  int64_t findAccess(BufferRows rows, int64_t columns) const;

  Value getPlace(int64_t offset) { return code.address(shared, code.builder.getI8Type(), offset); }
  Value tangent(Value x);
  Value callHardware(StringRef function, Value x);
  NumberRange scanDocuments(Value table, NumberRange documents, int64_t rows);
  NumberRange shareFound(NumberRange found);

  llvm::DenseMap<int64_t, Value> memories;

protected:
  BlockCode code;
  Visibility visibility;
  Value shared;   ///< memory of the block
  Value warpRow;  ///< the first of the warp's rows in the block's
  Value block;    ///< among those of the same part
  Value part;     ///< of the columns that are added up; null: there is one
  Value gradient; ///< which one is added up, where they are apart: 0 that of keys, 1 that of values
  std::optional<SharedTile> staging;
  std::unique_ptr<WarpProduct> product;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONKERNEL_H
