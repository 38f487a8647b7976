// Blocked attention, forward and backward, against a direct evaluation in f64. Random shapes are in
// AttentionShapesTest.cpp.
#include "AttentionProblem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using par::test::AttentionProblem;
using par::test::AttentionResults;

namespace {

using Doubles = std::vector<double>;

struct Case {
  const char *name;
  int64_t batch, q_rows, k_rows, kv_heads, group, head_dim;
  bool causal;
  int64_t window;
  float dropout;
  int32_t qFirst, kFirst; ///< positions are consecutive from here on
};

par_attention attentionOf(const Case &c) {
  par_attention what{};
  what.batch = c.batch, what.q_rows = c.q_rows, what.k_rows = c.k_rows;
  what.kv_heads = c.kv_heads, what.group = c.group, what.head_dim = what.value_dim = c.head_dim;
  what.scale = 0.37f / std::sqrt(float(c.head_dim)) * 3;
  what.causal = c.causal, what.window = c.window, what.dropout = c.dropout;
  return what;
}

AttentionProblem problemOf(const Case &c) {
  AttentionProblem problem(attentionOf(c));
  std::iota(problem.qPositions.begin(), problem.qPositions.end(), c.qFirst);
  std::iota(problem.kPositions.begin(), problem.kPositions.end(), c.kFirst);
  return problem;
}

void expectClose(const char *what, const std::vector<float> &actual, const Doubles &expected) {
  double error = 0, size = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isinf(expected[i])) {
      EXPECT_EQ(double(actual[i]), expected[i]) << what << " element " << i;
      continue;
    }
    ASSERT_TRUE(std::isfinite(actual[i])) << what << " element " << i;
    error = std::max(error, std::abs(actual[i] - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  EXPECT_LE(error, 3e-6 * std::max(size, 1e-3)) << what << ": largest value " << size;
}

void expectEqualsF64(AttentionProblem &problem) {
  par::device::Context context;
  AttentionResults<float> results = problem.compute(context);
  par::test::AttentionReference reference = problem.reference();
  expectClose("out", results.out, reference.out);
  expectClose("lse", results.lse, reference.lse);
  expectClose("dq", results.dq, reference.dq);
  expectClose("dk", results.dk, reference.dk);
  expectClose("dv", results.dv, reference.dv);
}

class Attention : public testing::TestWithParam<Case> {};

TEST_P(Attention, EqualsF64) {
  AttentionProblem problem = problemOf(GetParam());
  expectEqualsF64(problem);
}

const Case cases[] = {
    //                            b   q    k  kv  g  d  causal window drop qFirst kFirst
    {"one", 1, 1, 1, 1, 1, 1, true, 0, 0, 0, 0},
    {"full", 2, 5, 7, 1, 1, 8, false, 0, 0, 0, 0},
    {"causal", 2, 33, 33, 2, 1, 16, true, 0, 0, 0, 0},
    {"grouped", 2, 40, 40, 2, 3, 12, true, 0, 0, 0, 0},
    {"odd", 1, 131, 257, 3, 2, 7, true, 0, 0, 126, 0},
    {"tiles", 1, 300, 300, 1, 1, 64, true, 0, 0, 0, 0},
    {"exact_tiles", 1, 256, 256, 1, 2, 32, true, 0, 0, 0, 0},
    {"window", 1, 300, 300, 1, 2, 16, true, 16, 0, 0, 0},
    {"window_of_tiles", 1, 400, 400, 1, 1, 16, true, 130, 0, 0, 0},
    {"window_not_causal", 1, 150, 150, 1, 1, 8, false, 9, 0, 0, 0},
    {"blind_rows", 1, 140, 140, 1, 2, 8, true, 0, 0, 0, 100},
    {"nothing_seen", 1, 3, 3, 1, 1, 8, true, 0, 0, 0, 50},
    {"negative_positions", 1, 20, 20, 1, 1, 8, true, 5, 0, -10, -10},
    {"dropout", 2, 140, 140, 2, 2, 16, true, 0, 0.3f, 0, 0},
    {"dropout_full_window", 1, 140, 150, 1, 2, 16, false, 40, 0.1f, 3, 0},
};

INSTANTIATE_TEST_SUITE_P(Runtime, Attention, testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

/// Positions in no order, as of sequences dealt out over ranks.
TEST(AttentionOfMixedPositions, EqualsF64) {
  for (int64_t window : {0, 40}) {
    AttentionProblem problem = problemOf({"", 1, 150, 170, 1, 2, 24, true, window, 0.2f, 0, 0});
    std::mt19937 random(11);
    std::shuffle(problem.qPositions.begin(), problem.qPositions.end(), random);
    std::shuffle(problem.kPositions.begin(), problem.kPositions.begin() + 100, random);
    expectEqualsF64(problem);
  }
}

/// Differences of positions that 32 bits do not hold.
TEST(AttentionOfPositionsFarApart, EqualsF64) {
  AttentionProblem problem = problemOf({"", 1, 70, 70, 1, 1, 8, true, 100, 0, 0, 0});
  problem.qPositions[69] = problem.kPositions[69] = INT32_MAX;
  problem.qPositions[0] = problem.kPositions[0] = INT32_MIN;
  expectEqualsF64(problem);
}

TEST(AttentionWithSinks, RowsThatSeeNoKeyHaveTheirSink) {
  par_attention what = attentionOf({"", 1, 3, 3, 1, 2, 8, true, 0, 0, 0, 0});
  what.has_sinks = 1;
  AttentionProblem problem(what);
  std::fill(problem.kPositions.begin(), problem.kPositions.end(), 50);
  par::device::Context context;
  AttentionResults<float> results = problem.compute(context);
  EXPECT_EQ(results.out, std::vector<float>(results.out.size(), 0));
  for (size_t i = 0; i < results.lse.size(); ++i)
    EXPECT_EQ(results.lse[i], problem.sinks[i / 3]);
  EXPECT_EQ(results.dq, std::vector<float>(results.dq.size(), 0));
}

/// -inf is the sink of a head that has none.
TEST(AttentionWithSinks, OfNoWeightAreAsNone) {
  par_attention what = attentionOf({"", 1, 70, 70, 1, 2, 8, true, 0, 0, 0, 0});
  AttentionProblem without(what);
  what.has_sinks = 1;
  AttentionProblem with(what);
  with.q = without.q, with.k = without.k, with.v = without.v, with.dout = without.dout;
  with.sinks = {-INFINITY, -INFINITY};
  par::device::Context context;
  AttentionResults<float> expected = without.compute(context), results = with.compute(context);
  EXPECT_EQ(results.out, expected.out);
  EXPECT_EQ(results.lse, expected.lse);
  EXPECT_EQ(results.dq, expected.dq);
}

/// A call by hand.
using Buffers = std::vector<void *>;
Buffers buffersOf(AttentionProblem &p, float *q, float *k, float *v, AttentionResults<float> &results) {
  Buffers list(par_attention_backward_buffers);
  list[par_attention_q] = q, list[par_attention_k] = k, list[par_attention_v] = v;
  list[par_attention_q_positions] = p.qPositions.data(),
  list[par_attention_k_positions] = p.kPositions.data();
  list[par_attention_out] = results.out.data(), list[par_attention_lse] = results.lse.data();
  list[par_attention_dout] = p.dout.data();
  return list;
}

TEST(AttentionBackward, NullGradientsAreNotComputed) {
  AttentionProblem problem = problemOf({"", 1, 20, 20, 1, 2, 8, true, 0, 0, 0, 0});
  par::device::Context context;
  AttentionResults<float> whole = problem.compute(context), part = whole;
  std::fill(part.dk.begin(), part.dk.end(), NAN);
  Buffers list = buffersOf(problem, problem.q.data(), problem.k.data(), problem.v.data(), part);
  list[par_attention_dk] = part.dk.data();
  par_attention_backward(&context, &problem.what, list.data());
  EXPECT_EQ(part.dk, whole.dk);
}

/// Rows of `from` as columns [at, at + width) of rows of `stride` elements.
void spread(const std::vector<float> &from, size_t width, size_t stride, size_t at,
            std::vector<float> &into) {
  for (size_t row = 0; row < from.size() / width; ++row)
    std::copy_n(from.begin() + long(row * width), width, into.begin() + long(row * stride + at));
}

TEST(AttentionBackward, RowsOfOneBuffer) {
  AttentionProblem problem = problemOf({"", 2, 140, 140, 2, 2, 8, true, 0, 0, 0, 0});
  par::device::Context context;
  AttentionResults<float> apart = problem.compute(context), joint = apart;
  size_t q = 32, k = 16, stride = q + k + k + 3, rows = 2 * 140;
  std::vector<float> inputs(rows * stride, NAN), gradients(rows * stride, 7), expected = gradients;
  spread(problem.q, q, stride, 0, inputs), spread(problem.k, k, stride, q, inputs);
  spread(problem.v, k, stride, q + k, inputs);
  spread(apart.dq, q, stride, 0, expected), spread(apart.dk, k, stride, q, expected);
  spread(apart.dv, k, stride, q + k, expected);
  par_attention &what = problem.what;
  what.q_stride = what.k_stride = what.v_stride = what.dq_stride = what.dk_stride = what.dv_stride =
      int64_t(stride);
  Buffers list = buffersOf(problem, inputs.data(), inputs.data() + q, inputs.data() + q + k, joint);
  list[par_attention_dq] = gradients.data(), list[par_attention_dk] = gradients.data() + q;
  list[par_attention_dv] = gradients.data() + q + k;
  par_attention_forward(&context, &what, list.data());
  par_attention_backward(&context, &what, list.data());
  EXPECT_EQ(joint.out, apart.out);
  // What lies between the rows is left alone.
  EXPECT_EQ(gradients, expected);
}

/// Pairs of 70 rows of 2 × 2 × 3 heads are three quarters of the first tile, all 64 keys for six rows, and
/// six by six.
TEST(AttentionPairs, AreThoseThatAreComputed) {
  AttentionProblem problem = problemOf({"", 2, 70, 70, 2, 3, 8, true, 0, 0, 0, 0});
  par::cpu::CpuDevice device({2});
  par::device::Context context;
  context.device = &device;
  problem.compute(context);
  const int64_t pairs = 12 * (3 * 64 * 64 / 4 + 6 * 64 + 6 * 6);
  EXPECT_EQ(device.attentionPairs().forward, pairs);
  EXPECT_EQ(device.attentionPairs().backward, pairs);
  problem.computeBf16(context);
  EXPECT_EQ(device.attentionPairs().forward, 2 * pairs);
}

TEST(AttentionForward, SameBytesEveryTime) {
  par::device::Context context;
  EXPECT_EQ(problemOf(cases[13]).compute(context).out, problemOf(cases[13]).compute(context).out);
}

} // namespace
