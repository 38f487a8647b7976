//===- Visibility.h - which keys a query sees ---------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_VISIBILITY_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_VISIBILITY_H

#include "AttentionCall.h"
#include "BlockCode.h"

namespace mlir::par {

/// The least and the greatest of some numbers.
struct NumberRange {
  Value low, high;
};

/// By positions, as par.attention says: a query sees a key that is not behind it (causal) and not too far
/// before it (window).
class Visibility {
public:
  Visibility(BlockCode &code, const AttentionCall &call);

  /// Positions of the rows from `first` on, `count` of them as far as there are `rows`. Every warp finds the
  /// same.
  NumberRange findRange(Value positions, Value first, int64_t count, int64_t rows);
  /// False if no query of a range can see a key of the other.
  Value mayAnySee(NumberRange queries, NumberRange keys);
  /// True if every query of a range sees every key of the other; null: always.
  Value doAllSee(NumberRange queries, NumberRange keys);
  /// The positions of queries that see a key: from `low` to `high`.
  NumberRange findQueries(Value keyPosition);
  Value isIn(Value position, NumberRange range);

private:
  Value isBefore(Value a, Value b) { return code.compare(arith::CmpIPredicate::sle, a, b); }
  /// query − key < window
  Value isNear(Value query, Value key);

  BlockCode &code;
  bool causal;
  int64_t window;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_VISIBILITY_H
