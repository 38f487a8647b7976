//===- QueryKernel.h - kernels whose blocks have queries and walk the keys ----------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_QUERYKERNEL_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_QUERYKERNEL_H

#include "AttentionKernel.h"

namespace mlir::par {

class QueryKernel : public AttentionKernel {
protected:
  QueryKernel(const AttentionTask &task, ArrayRef<Access> accesses, std::string next);
  /// What both directions read.
  static SmallVector<Access> getCommonAccesses(const AttentionCall &call);

  /// For every tile of keys that any of the block's queries sees, when it lies in `keyTile` and `valueTile`:
  /// `add` makes of what is carried what is carried on.
  Values walkKeys(ValueRange start, function_ref<Values(ValueRange carried)> add);

  // For `add`.
  Fragments computeScores();
  /// −∞ where a query does not see a key.
  void hide(Fragments &scores);
  /// Multiplies by 0 or 1 / (1 − p), if there is dropout.
  void drop(Fragments &elements);

  /// Of a row that this lane has a part of, which only one lane of its quad writes.
  void storeNumber(int64_t operand, Value row, Value number);

  SharedTile keyTile, valueTile, queryTile;
  Value batch, head, firstQuery; ///< of the block
  Values queryRows;              ///< of this lane: their numbers

private:
  void findOwnPlaces();
  void loadTile();
  void placeKeyBound(Value number);

  RowTables queryTables, keyTables;
  RowRange ofQueries;
  SmallVector<RowPlace> queryPlaces;
  HeadRows keys, values;
  std::optional<DropoutFactors> dropout;
  Value firstKey; ///< of the tile
  RowRange ofKeys;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_QUERYKERNEL_H
