//===- AttentionReference.cpp - plain evaluation of attention -------------------------------------------===//
#include "AttentionReference.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::par;

void AttentionReference::forEachQuery(llvm::function_ref<void(const Query &)> visit) const {
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t row = 0; row < qRows; ++row)
      for (int64_t head = 0; head < kvHeads; ++head)
        for (int64_t member = 0; member < group; ++member)
          visit({b, row, head, member});
}

int64_t AttentionReference::queryOffset(const Query &query) const {
  return (((query.batch * qRows + query.row) * kvHeads + query.head) * group + query.member) * headDim;
}

int64_t AttentionReference::keyOffset(const Query &query, int64_t kRow) const {
  return ((query.batch * kRows + kRow) * kvHeads + query.head) * headDim;
}

int64_t AttentionReference::lseOffset(const Query &query) const {
  return ((query.batch * kvHeads + query.head) * group + query.member) * qRows + query.row;
}

bool AttentionReference::sees(int64_t qRow, int64_t kRow) const {
  double distance = qPositions[qRow] - kPositions[kRow];
  return (!causal || distance >= 0) && (window == 0 || distance < static_cast<double>(window));
}

double AttentionReference::getDropoutFactor(const Query &query, int64_t kRow) const {
  if (dropout == 0.0)
    return 1.0;
  int64_t element = (offsets[1] + query.row) * strides[1] + (offsets[2] + query.head) * strides[2] +
                    (offsets[3] + query.member) * strides[3] + (offsets[4] + kRow) * strides[4];
  uint32_t word = philoxWord0(static_cast<uint32_t>(element), static_cast<uint32_t>(element >> 32),
                              static_cast<uint32_t>(row + offsets[0] + query.batch), site, key[0], key[1]);
  return word >= dropout * 4294967296.0 ? 1.0 / (1.0 - dropout) : 0.0;
}

double AttentionReference::dot(const double *a, const double *b) const {
  double sum = 0;
  for (int64_t i = 0; i < headDim; ++i)
    sum += a[i] * b[i];
  return sum;
}

void AttentionReference::forward(const Tensor &q, const Tensor &k, const Tensor &v, Tensor &out,
                                 Tensor &lse) const {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<double> scores(kRows);
  forEachQuery([&](const Query &query) {
    const double *qRow = &q.values[queryOffset(query)];
    double *outRow = &out.values[queryOffset(query)];
    double maximum = kNone, sum = 0;
    for (int64_t j = 0; j < kRows; ++j) {
      scores[j] = sees(query.row, j) ? scale * dot(qRow, &k.values[keyOffset(query, j)]) : kNone;
      maximum = std::max(maximum, scores[j]);
    }
    std::fill_n(outRow, headDim, 0.0);
    lse.values[lseOffset(query)] = kNone;
    if (maximum == kNone)
      return;
    for (int64_t j = 0; j < kRows; ++j)
      sum += scores[j] = std::exp(scores[j] - maximum);
    lse.values[lseOffset(query)] = maximum + std::log(sum);
    for (int64_t j = 0; j < kRows; ++j) {
      if (scores[j] == 0.0)
        continue;
      double weight = scores[j] / sum * getDropoutFactor(query, j);
      const double *value = &v.values[keyOffset(query, j)];
      for (int64_t i = 0; i < headDim; ++i)
        outRow[i] += weight * value[i];
    }
  });
}

void AttentionReference::backward(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results) const {
  const Tensor &dout = operands[0], &q = operands[1], &k = operands[2], &v = operands[3];
  const Tensor &out = operands[4], &lse = operands[5];
  for (Tensor &result : results)
    std::fill(result.values.begin(), result.values.end(), 0.0);
  forEachQuery([&](const Query &query) {
    int64_t at = queryOffset(query);
    const double *gradient = &dout.values[at];
    double inner = dot(gradient, &out.values[at]);
    for (int64_t j = 0; j < kRows; ++j) {
      if (!sees(query.row, j))
        continue;
      int64_t key = keyOffset(query, j);
      double p = std::exp(scale * dot(&q.values[at], &k.values[key]) - lse.values[lseOffset(query)]);
      double kept = getDropoutFactor(query, j);
      double ds = scale * p * (kept * dot(gradient, &v.values[key]) - inner);
      for (int64_t i = 0; i < headDim; ++i) {
        results[0].values[at + i] += ds * k.values[key + i];
        results[1].values[key + i] += ds * q.values[at + i];
        results[2].values[key + i] += p * kept * gradient[i];
      }
    }
  });
}
