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

int64_t AttentionReference::queryNumber(const Query &query) const {
  return ((query.batch * qRows + query.row) * kvHeads + query.head) * group + query.member;
}

int64_t AttentionReference::keyNumber(const Query &query, int64_t kRow) const {
  return (query.batch * kRows + kRow) * kvHeads + query.head;
}

int64_t AttentionReference::lseOffset(const Query &query) const {
  return ((query.batch * kvHeads + query.head) * group + query.member) * qRows + query.row;
}

bool AttentionReference::sees(const Query &query, int64_t kRow) const {
  int64_t q = (rowsPerEntry ? query.batch * qRows : 0) + query.row;
  int64_t k = (rowsPerEntry ? query.batch * kRows : 0) + kRow;
  if (!queries.documents.empty() && queries.documents[q] != keys.documents[k])
    return false;
  double distance = queries.positions[q] - keys.positions[k];
  return (!causal || distance >= 0) && (window == 0 || distance < static_cast<double>(window));
}

double AttentionReference::capped(double score) const {
  return cap == 0.0 ? score : cap * std::tanh(score / cap);
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

static double dot(const double *a, const double *b, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i)
    sum += a[i] * b[i];
  return sum;
}

void AttentionReference::forward(const Tensor &q, const Tensor &k, const Tensor &v, Tensor &out,
                                 Tensor &lse) const {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<double> scores(kRows);
  forEachQuery([&](const Query &query) {
    const double *qRow = &q.values[queryNumber(query) * headDim];
    double *outRow = &out.values[queryNumber(query) * valueDim];
    double sink = sinks.empty() ? kNone : sinks[query.head * group + query.member];
    double maximum = sink;
    for (int64_t j = 0; j < kRows; ++j) {
      const double *key = &k.values[keyNumber(query, j) * headDim];
      scores[j] = sees(query, j) ? capped(scale * dot(qRow, key, headDim)) : kNone;
      maximum = std::max(maximum, scores[j]);
    }
    std::fill_n(outRow, valueDim, 0.0);
    lse.values[lseOffset(query)] = kNone;
    if (maximum == kNone)
      return;
    double sum = std::exp(sink - maximum);
    for (int64_t j = 0; j < kRows; ++j)
      sum += scores[j] = std::exp(scores[j] - maximum);
    lse.values[lseOffset(query)] = maximum + std::log(sum);
    for (int64_t j = 0; j < kRows; ++j) {
      if (scores[j] == 0.0)
        continue;
      double weight = scores[j] / sum * getDropoutFactor(query, j);
      const double *value = &v.values[keyNumber(query, j) * valueDim];
      for (int64_t i = 0; i < valueDim; ++i)
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
    int64_t inQuery = queryNumber(query) * headDim, inOut = queryNumber(query) * valueDim;
    const double *gradient = &dout.values[inOut];
    double inner = dot(gradient, &out.values[inOut], valueDim);
    for (int64_t j = 0; j < kRows; ++j) {
      if (!sees(query, j))
        continue;
      int64_t inKey = keyNumber(query, j) * headDim, inValue = keyNumber(query, j) * valueDim;
      double score = capped(scale * dot(&q.values[inQuery], &k.values[inKey], headDim));
      double slope = cap == 0.0 ? 1.0 : 1.0 - score / cap * (score / cap);
      double p = std::exp(score - lse.values[lseOffset(query)]);
      double kept = getDropoutFactor(query, j);
      double ds = scale * slope * p * (kept * dot(gradient, &v.values[inValue], valueDim) - inner);
      for (int64_t i = 0; i < headDim; ++i) {
        results[0].values[inQuery + i] += ds * k.values[inKey + i];
        results[1].values[inKey + i] += ds * q.values[inQuery + i];
      }
      for (int64_t i = 0; i < valueDim; ++i)
        results[2].values[inValue + i] += p * kept * gradient[i];
    }
  });
}
