//===- AttentionReference.h - plain evaluation of attention -----------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_ATTENTIONREFERENCE_H
#define PAR_DIALECT_PAR_IR_ATTENTIONREFERENCE_H

#include "par/Interpreter/Tensor.h"
#include <array>

namespace mlir::par {

/// par.attention and its derivative in f64, row by row, as the ops' descriptions define them. Shapes: q, out
/// and their gradients [batch, qRows, kvHeads, group, headDim]; k and v [batch, kRows, kvHeads, headDim]; lse
/// [batch, kvHeads, group, qRows]; all row-major.
struct AttentionReference {
  int64_t batch, qRows, kvHeads, group, headDim, kRows;
  double scale;
  bool causal;
  int64_t window; ///< 0: none
  ArrayRef<double> qPositions, kPositions;
  double dropout = 0.0; ///< 0: the fields below have no meaning
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
  int64_t queryOffset(const Query &query) const;
  int64_t keyOffset(const Query &query, int64_t kRow) const;
  int64_t lseOffset(const Query &query) const;
  bool sees(int64_t qRow, int64_t kRow) const;
  /// Factor that dropout applies to a probability: 0 or 1/(1 − p).
  double getDropoutFactor(const Query &query, int64_t kRow) const;
  double dot(const double *a, const double *b) const;
};

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_ATTENTIONREFERENCE_H
