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

/// The addresses at which the tables of a batch entry's rows begin.
struct RowTables {
  Value positions;
  Value documents; ///< null: all rows are of one
};

/// A row, by what tells who sees it.
struct RowPlace {
  Value position;
  Value document; ///< null: there are none
};

/// The first and the last of some rows, by document, and in a document by position. Without documents they
/// are the least and the greatest position.
struct RowRange {
  NumberRange positions, documents;
};

/// Decides by positions and documents, as par.attention says: a query sees a key of its document that is not
/// behind it (causal) and not too far before it (window).
class Visibility {
public:
  Visibility(BlockCode &code, const AttentionCall &call);

  RowPlace readPlace(RowTables tables, Value row);
  /// The range of the rows from `first` on, `count` of them as far as there are `rows`. Every warp finds the
  /// same.
  RowRange findRange(RowTables tables, Value first, int64_t count, int64_t rows);
  /// False if no query of a range can see a key of the other.
  Value mayAnySee(const RowRange &queries, const RowRange &keys);
  /// True if every query of a range sees every key of the other; null: always.
  Value doAllSee(const RowRange &queries, const RowRange &keys);
  /// The positions of queries that see a key: from `low` to `high`.
  NumberRange findQueries(Value keyPosition);
  /// Whether a query is one of those, and of the document of the key, if there are documents.
  Value isIn(RowPlace query, NumberRange seen, Value keyDocument);

private:
  Value isBefore(Value a, Value b) { return code.compare(arith::CmpIPredicate::sle, a, b); }
  Value isSame(Value a, Value b) { return code.compare(arith::CmpIPredicate::eq, a, b); }
  Value either(Value a, Value b) { return code.create<arith::OrIOp>(a, b); }
  /// query − key < window
  Value isNear(Value query, Value key);
  /// It is `alike` where documents are the same, else it says whether they are in order.
  Value inOrder(Value firstDocument, Value secondDocument, Value alike);
  RowRange findPlaces(ArrayRef<RowPlace> places);

  BlockCode &code;
  bool causal;
  int64_t window;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_VISIBILITY_H
