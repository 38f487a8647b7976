//===- AttentionReference.h - plain evaluation of attention -----------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_ATTENTIONREFERENCE_H
#define PAR_DIALECT_PAR_IR_ATTENTIONREFERENCE_H

#include "par/Interpreter/Tensor.h"
#include <array>

namespace mlir::par {

/// Position and document of each row of queries, or of keys.
struct AttentionRows {
  ArrayRef<double> positions;
  ArrayRef<double> documents; ///< empty: all rows are of one
};

/// par.attention and its derivative in f64, row by row, as the ops' descriptions define them. Shapes: q and
/// its gradient [batch, qRows, kvHeads, group, headDim], k [batch, kRows, kvHeads, headDim], out and v the
/// same with valueDim; lse [batch, kvHeads, group, qRows]; sinks [kvHeads, group]; all row-major.
struct AttentionReference {
  int64_t batch, qRows, kvHeads, group, headDim, valueDim, kRows;
  double scale;
  double cap; ///< 0: none
  bool causal;
  int64_t window;    ///< 0: none
  bool rowsPerEntry; ///< each entry of the batch has rows of its own, [batch, rows]; else all have those
                     ///< listed
  AttentionRows queries, keys;
  ArrayRef<double> sinks; ///< empty: none
  double dropout = 0.0;   ///< 0: the fields below have no meaning
  std::array<uint32_t, 2> key = {};
  uint32_t site = 0;
  int64_t row = 0; ///< row in the step of batch entry 0
  std::array<int64_t, 5> offsets = {}, strides = {};

  void forward(const Tensor &q, const Tensor &k, const Tensor &v, Tensor &out, Tensor &lse) const;
  /// Operands: dout, q, k, v, out, lse. Results: dq, dk, dv.
  void backward(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results) const;

private:
  /// One query row: batch entry, row of q, kv head and member of the group.
  struct Query {
    int64_t batch, row, head, member;
  };
  void forEachQuery(llvm::function_ref<void(const Query &)> visit) const;
  /// The number of a query among those of all entries, and of a key of its head.
  int64_t queryNumber(const Query &query) const;
  int64_t keyNumber(const Query &query, int64_t kRow) const;
  int64_t lseOffset(const Query &query) const;
  bool sees(const Query &query, int64_t kRow) const;
  double capped(double score) const;
  /// Factor that dropout applies to a probability: 0 or 1/(1 − p).
  double getDropoutFactor(const Query &query, int64_t kRow) const;
};

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_ATTENTIONREFERENCE_H
