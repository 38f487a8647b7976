#include "AttentionProblem.h"

#include "par/io/FloatTypes.h"
#include "par/io/Philox.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace par::test {
namespace {

using Words = std::vector<uint16_t>;
using Doubles = std::vector<double>;

std::vector<float> normal(int64_t count, std::mt19937 &random) {
  std::normal_distribution<float> distribution;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = distribution(random);
  return values;
}

std::vector<int32_t> countUp(int64_t entries, int64_t rows) {
  std::vector<int32_t> positions(size_t(entries * rows));
  for (size_t i = 0; i < positions.size(); ++i)
    positions[i] = int32_t(i % size_t(rows));
  return positions;
}

/// Rows of `width` numbers that lie `stride` apart in a buffer, with `between` between them.
template <typename Number>
std::vector<Number> spread(const std::vector<Number> &rows, int64_t width, int64_t stride, Number between) {
  size_t count = rows.size() / size_t(width);
  std::vector<Number> buffer(count * size_t(stride), between);
  for (size_t row = 0; row < count; ++row)
    std::copy_n(rows.begin() + long(row) * width, width, buffer.begin() + long(row) * stride);
  return buffer;
}

template <typename Number>
std::vector<Number> gather(const std::vector<Number> &buffer, int64_t width, int64_t stride) {
  std::vector<Number> rows;
  for (size_t row = 0; row < buffer.size() / size_t(stride); ++row)
    rows.insert(rows.end(), buffer.begin() + long(row) * stride, buffer.begin() + long(row) * stride + width);
  return rows;
}

Words roundAll(const std::vector<float> &values) {
  Words words;
  for (float value : values)
    words.push_back(io::floatToBfloat(value));
  return words;
}

std::vector<float> widenAll(const Words &words) {
  std::vector<float> values;
  for (uint16_t word : words)
    values.push_back(io::bfloatToFloat(word));
  return values;
}

/// The call's buffers in one type of numbers. `toNumber` makes those of operands.
template <typename Number, typename Convert>
struct Buffers {
  const AttentionProblem &p;
  int64_t keys = p.what.kv_heads * p.what.head_dim, values = p.what.kv_heads * p.what.value_dim;
  int64_t queries = keys * p.what.group, outs = values * p.what.group;
  std::vector<Number> q, k, v, dout, out, dq, dk, dv;
  std::vector<float> lse;

  Buffers(const AttentionProblem &p, const Convert &convert, Number nan)
      : p(p), q(spread(convert(p.q), queries, p.what.q_stride, nan)),
        k(spread(convert(p.k), keys, p.what.k_stride, nan)),
        v(spread(convert(p.v), values, p.what.v_stride, nan)), dout(convert(p.dout)), out(dout.size(), nan),
        dq(p.q.size() / size_t(queries) * size_t(p.what.dq_stride), nan),
        dk(p.k.size() / size_t(keys) * size_t(p.what.dk_stride), nan),
        dv(p.v.size() / size_t(values) * size_t(p.what.dv_stride), nan),
        lse(size_t(p.what.batch * p.what.kv_heads * p.what.group * p.what.q_rows), NAN) {}

  template <typename Widen>
  AttentionResults<float> results(Widen &&widen) const {
    return {widen(out), lse, widen(gather(dq, queries, p.what.dq_stride)),
            widen(gather(dk, keys, p.what.dk_stride)), widen(gather(dv, values, p.what.dv_stride))};
  }
};

} // namespace

AttentionProblem::AttentionProblem(par_attention description, unsigned seed) : what(description) {
  std::mt19937 random(seed);
  int64_t keys = what.kv_heads * what.head_dim, values = what.kv_heads * what.value_dim;
  int64_t queryRows = what.batch * what.q_rows, keyRows = what.batch * what.k_rows;
  q = normal(queryRows * keys * what.group, random), k = normal(keyRows * keys, random);
  v = normal(keyRows * values, random), dout = normal(queryRows * values * what.group, random);
  if (what.has_sinks)
    sinks = normal(what.kv_heads * what.group, random);
  qPositions = countUp(what.rows_per_entry ? what.batch : 1, what.q_rows);
  kPositions = countUp(what.rows_per_entry ? what.batch : 1, what.k_rows);
  auto whole = [](int64_t &stride, int64_t width) { stride = stride ? stride : width; };
  whole(what.q_stride, keys * what.group), whole(what.dq_stride, keys * what.group);
  whole(what.k_stride, keys), whole(what.dk_stride, keys);
  whole(what.v_stride, values), whole(what.dv_stride, values);
  // A global tensor (q_rows', kv_heads', group', k_rows') of larger sizes would number its elements so.
  what.strides[4] = 1, what.strides[3] = 1000, what.strides[2] = 7000;
  what.strides[1] = int64_t(7000) * 1000003;
}

std::vector<void *> AttentionProblem::inputs(void *queries, void *keys, void *values, void *sinkScores) {
  bool dropout = what.dropout > 0;
  auto orNull = [](std::vector<int32_t> &table) { return table.empty() ? nullptr : table.data(); };
  return {queries,
          keys,
          values,
          qPositions.data(),
          kPositions.data(),
          orNull(qDocuments),
          orNull(kDocuments),
          what.has_sinks ? sinkScores : nullptr,
          dropout ? key : nullptr,
          dropout ? &site : nullptr,
          dropout ? &row : nullptr,
          dropout ? offsets : nullptr};
}

AttentionResults<float> AttentionProblem::compute(device::Context &context) {
  auto same = [](const std::vector<float> &values) { return values; };
  Buffers<float, decltype(same)> b(*this, same, NAN);
  Words words = roundAll(sinks);
  void *scores = what.sinks_bf16 ? static_cast<void *>(words.data()) : sinks.data();
  std::vector<void *> list = inputs(b.q.data(), b.k.data(), b.v.data(), scores);
  list.insert(list.end(), {b.out.data(), b.lse.data()});
  par_attention_forward(&context, &what, list.data());
  list[par_attention_sinks] = nullptr; // the backward pass has them in lse
  list.insert(list.end(), {b.dout.data(), b.dq.data(), b.dk.data(), b.dv.data()});
  par_attention_backward(&context, &what, list.data());
  return b.results(same);
}

AttentionResults<float> AttentionProblem::computeBf16(device::Context &context) {
  auto toWords = [](const std::vector<float> &values) { return roundAll(values); };
  Buffers<uint16_t, decltype(toWords)> b(*this, toWords, 0x7FC0);
  Words words = roundAll(sinks);
  void *scores = what.sinks_bf16 ? static_cast<void *>(words.data()) : sinks.data();
  int64_t forward = par_attention_bf16_workspace(&what, 0), backward = par_attention_bf16_workspace(&what, 1);
  std::vector<float> workspace(size_t(std::max(forward, backward)) / sizeof(float), NAN);
  std::vector<void *> list = inputs(b.q.data(), b.k.data(), b.v.data(), scores);
  list.insert(list.end(), {b.out.data(), b.lse.data()});
  par_attention_forward_bf16(&context, &what, list.data(), workspace.data(), forward);
  list[par_attention_sinks] = nullptr;
  list.insert(list.end(), {b.dout.data(), b.dq.data(), b.dk.data(), b.dv.data()});
  par_attention_backward_bf16(&context, &what, list.data(), workspace.data(), backward);
  return b.results(widenAll);
}

void AttentionProblem::round() {
  for (std::vector<float> *values : {&q, &k, &v, &dout})
    *values = widenAll(roundAll(*values));
  if (what.sinks_bf16)
    sinks = widenAll(roundAll(sinks));
}

bool AttentionProblem::sees(int64_t entry, int64_t query, int64_t key) const {
  auto q = size_t(tableRow(entry, what.q_rows, query)), k = size_t(tableRow(entry, what.k_rows, key));
  if (!qDocuments.empty() && qDocuments[q] != kDocuments[k])
    return false;
  int64_t distance = int64_t(qPositions[q]) - kPositions[k];
  return (!what.causal || distance >= 0) && (what.window == 0 || distance < what.window);
}

double AttentionProblem::keep(const Query &query, int64_t at) const {
  if (what.dropout == 0)
    return 1;
  uint64_t e =
      uint64_t((query.row + offsets[1]) * what.strides[1] + (query.kvHead + offsets[2]) * what.strides[2] +
               (query.group + offsets[3]) * what.strides[3] + (at + offsets[4]) * what.strides[4]);
  uint32_t word = io::philox(uint32_t(e), uint32_t(e >> 32), uint32_t(row + offsets[0] + query.batch),
                             uint32_t(site), uint32_t(key[0]), uint32_t(key[1]))
                      .word[0];
  return double(word) >= double(what.dropout) * 4294967296.0 ? 1 / (1 - double(what.dropout)) : 0;
}

static double dot(const float *a, const float *b, int64_t count) {
  double sums[4] = {};
  for (int64_t i = 0; i < count; ++i)
    sums[i % 4] += double(a[i]) * double(b[i]);
  return sums[0] + sums[1] + sums[2] + sums[3];
}

/// to += factor from
template <typename Number>
static void add(double *to, double factor, const Number *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += factor * double(from[i]);
}

/// One query row: probabilities, outputs, and its part of the gradients.
void AttentionProblem::referenceRow(const Query &query, AttentionReference &results) const {
  const int64_t heads = what.kv_heads * what.group, head = query.kvHead * what.group + query.group;
  const int64_t number = (query.batch * what.q_rows + query.row) * heads + head;
  const float *ofQuery = &q[size_t(number * what.head_dim)],
              *gradient = &dout[size_t(number * what.value_dim)];
  const double sink = sinks.empty() ? -INFINITY : sinks[size_t(head)];
  auto largest = [&](const float *numbers) {
    return std::accumulate(numbers, numbers + what.head_dim, 0.0, [](double most, float number) {
      return std::max(most, std::abs(double(number)));
    });
  };
  std::vector<int64_t> seen;
  Doubles scores;
  auto keyNumber = [&](int64_t at) {
    return (query.batch * what.k_rows + at) * what.kv_heads + query.kvHead;
  };
  for (int64_t at = 0; at < what.k_rows; ++at)
    if (sees(query.batch, query.row, at)) {
      double score = what.scale * dot(ofQuery, &k[size_t(keyNumber(at) * what.head_dim)], what.head_dim);
      seen.push_back(at);
      scores.push_back(what.cap > 0 ? what.cap * std::tanh(score / what.cap) : score);
    }
  double highest =
      std::accumulate(scores.begin(), scores.end(), sink, [](double a, double b) { return std::max(a, b); });
  double &lse = results.lse[size_t((query.batch * heads + head) * what.q_rows + query.row)];
  lse = highest;
  if (highest == -INFINITY)
    return;
  double sum = std::exp(sink - highest), delta = 0;
  for (double score : scores)
    sum += std::exp(score - highest);
  lse += std::log(sum);
  Doubles dp;
  for (size_t i = 0; i < seen.size(); ++i) {
    auto value = size_t(keyNumber(seen[i]) * what.value_dim);
    double z = keep(query, seen[i]), p = std::exp(scores[i] - lse);
    dp.push_back(z * dot(gradient, &v[value], what.value_dim));
    delta += p * dp[i];
    add(&results.out[size_t(number * what.value_dim)], p * z, &v[value], what.value_dim);
    add(&results.dv[value], p * z, gradient, what.value_dim);
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    auto at = size_t(keyNumber(seen[i]) * what.head_dim);
    double share = what.cap > 0 ? scores[i] / what.cap : 0;
    double factor = std::exp(scores[i] - lse) * (1 - share * share) * what.scale,
           ds = factor * (dp[i] - delta);
    double term = factor * (std::abs(dp[i]) + std::abs(delta));
    results.largestTerm = std::max(results.largestTerm, term * std::max(largest(ofQuery), largest(&k[at])));
    add(&results.dq[size_t(number * what.head_dim)], ds, &k[at], what.head_dim);
    add(&results.dk[at], ds, ofQuery, what.head_dim);
  }
}

AttentionReference AttentionProblem::reference() const {
  Doubles lse(size_t(what.batch * what.kv_heads * what.group * what.q_rows));
  AttentionReference results{
      {Doubles(dout.size()), lse, Doubles(q.size()), Doubles(k.size()), Doubles(v.size())}};
  for (int64_t batch = 0; batch < what.batch; ++batch)
    for (int64_t at = 0; at < what.q_rows; ++at)
      for (int64_t head = 0; head < what.kv_heads; ++head)
        for (int64_t group = 0; group < what.group; ++group)
          referenceRow({batch, at, head, group}, results);
  return results;
}

} // namespace par::test
