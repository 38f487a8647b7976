// Blocked attention, forward and backward, against a direct evaluation in f64.
#include "cpu/Context.h"
#include "par/io/Philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

struct Case {
  const char *name;
  int64_t batch, q_rows, k_rows, kv_heads, group, head_dim;
  bool causal;
  int64_t window;
  float dropout;
  int32_t qFirst, kFirst; ///< positions are consecutive from here on
};

using Doubles = std::vector<double>;

/// Buffers and description of a case, filled with random numbers; NaN where results go.
struct Problem {
  explicit Problem(const Case &c)
      : what{c.batch,
             c.q_rows,
             c.k_rows,
             c.kv_heads,
             c.group,
             c.head_dim,
             0.37f / std::sqrt(float(c.head_dim)) * 3,
             c.causal,
             c.window,
             c.dropout,
             {}} {
    int64_t qSize = c.batch * c.q_rows * c.kv_heads * c.group * c.head_dim,
            kSize = c.batch * c.k_rows * c.kv_heads * c.head_dim;
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (auto [values, size] :
         {std::pair(&q, qSize), std::pair(&k, kSize), std::pair(&v, kSize), std::pair(&dout, qSize)})
      for (int64_t i = 0; i < size; ++i)
        values->push_back(normal(random));
    for (int64_t i = 0; i < c.q_rows; ++i)
      qPositions.push_back(c.qFirst + int32_t(i));
    for (int64_t j = 0; j < c.k_rows; ++j)
      kPositions.push_back(c.kFirst + int32_t(j));
    out.assign(size_t(qSize), NAN), dq = out;
    dk.assign(size_t(kSize), NAN), dv = dk;
    lse.assign(size_t(what.batch * what.kv_heads * what.group * what.q_rows), NAN);
    // As a global tensor (q_rows', kv_heads', group', k_rows') of larger sizes would number its elements.
    what.strides[4] = 1, what.strides[3] = 1000, what.strides[2] = 7000,
    what.strides[1] = int64_t(7000) * 1000003;
    what.q_stride = what.dq_stride = c.kv_heads * c.group * c.head_dim;
    what.k_stride = what.v_stride = what.dk_stride = what.dv_stride = c.kv_heads * c.head_dim;
  }

  void forward() {
    void *buffers[] = {q.data(), k.data(), v.data(), qPositions.data(), kPositions.data(), key,
                       &site,    &row,     offsets,  out.data(),        lse.data()};
    par_attention_forward(&context, &what, buffers);
  }
  void backward() {
    void *buffers[] = {q.data(),   k.data(),    v.data(),  qPositions.data(), kPositions.data(),
                       key,        &site,       &row,      offsets,           out.data(),
                       lse.data(), dout.data(), dq.data(), dk.data(),         dv.data()};
    par_attention_backward(&context, &what, buffers);
  }
  size_t qAt(int64_t b, int64_t i, int64_t h, int64_t g) const {
    return size_t((((b * what.q_rows + i) * what.kv_heads + h) * what.group + g) * what.head_dim);
  }
  size_t kAt(int64_t b, int64_t j, int64_t h) const {
    return size_t(((b * what.k_rows + j) * what.kv_heads + h) * what.head_dim);
  }
  bool sees(int64_t i, int64_t j) const {
    int64_t qp = qPositions[size_t(i)], kp = kPositions[size_t(j)];
    return (!what.causal || kp <= qp) && (what.window == 0 || qp - kp < what.window);
  }
  double keep(int64_t b, int64_t i, int64_t h, int64_t g, int64_t j) const {
    if (what.dropout == 0)
      return 1;
    uint64_t e = uint64_t((i + offsets[1]) * what.strides[1] + (h + offsets[2]) * what.strides[2] +
                          (g + offsets[3]) * what.strides[3] + (j + offsets[4]) * what.strides[4]);
    uint32_t word = par::io::philox(uint32_t(e), uint32_t(e >> 32), uint32_t(row + offsets[0] + b),
                                    uint32_t(site), uint32_t(key[0]), uint32_t(key[1]))
                        .word[0];
    return double(word) >= double(what.dropout) * 4294967296.0 ? 1 / (1 - double(what.dropout)) : 0;
  }

  par::device::Context context;
  par_attention what;
  std::vector<float> q, k, v, dout, out, lse, dq, dk, dv;
  std::vector<int32_t> qPositions, kPositions;
  int32_t key[2] = {123456789, -77}, site = 3, row = 5, offsets[5] = {2, 7, 1, 3, 11};
};

struct Reference {
  Doubles out, lse, dq, dk, dv;
};

/// One query row: probabilities, outputs, and its part of the gradients.
void referenceRow(const Problem &p, int64_t b, int64_t i, int64_t h, int64_t g, Reference &r) {
  int64_t d = p.what.head_dim, keys = p.what.k_rows;
  size_t qa = p.qAt(b, i, h, g),
         la = size_t(((b * p.what.kv_heads + h) * p.what.group + g) * p.what.q_rows + i);
  Doubles scores(size_t(keys), -INFINITY), z(static_cast<size_t>(keys)), dp(static_cast<size_t>(keys));
  double highest = -INFINITY, sum = 0, delta = 0;
  for (int64_t j = 0; j < keys; ++j) {
    if (!p.sees(i, j))
      continue;
    double dot = 0;
    for (int64_t c = 0; c < d; ++c)
      dot += double(p.q[qa + size_t(c)]) * p.k[p.kAt(b, j, h) + size_t(c)];
    scores[size_t(j)] = dot * p.what.scale;
    highest = std::max(highest, scores[size_t(j)]);
  }
  for (double s : scores)
    sum += std::exp(s - highest);
  r.lse[la] = highest == -INFINITY ? -INFINITY : highest + std::log(sum);
  if (highest == -INFINITY)
    return;
  for (int64_t j = 0; j < keys; ++j) {
    double &s = scores[size_t(j)];
    s = std::exp(s - r.lse[la]);
    z[size_t(j)] = p.keep(b, i, h, g, j);
    for (int64_t c = 0; c < d; ++c) {
      size_t ka = p.kAt(b, j, h) + size_t(c);
      r.out[qa + size_t(c)] += s * z[size_t(j)] * p.v[ka];
      r.dv[ka] += s * z[size_t(j)] * p.dout[qa + size_t(c)];
      dp[size_t(j)] += z[size_t(j)] * p.dout[qa + size_t(c)] * p.v[ka];
    }
    delta += s * dp[size_t(j)];
  }
  for (int64_t j = 0; j < keys; ++j)
    for (int64_t c = 0; c < d; ++c) {
      double ds = scores[size_t(j)] * (dp[size_t(j)] - delta) * p.what.scale;
      size_t ka = p.kAt(b, j, h) + size_t(c);
      r.dq[qa + size_t(c)] += ds * p.k[ka];
      r.dk[ka] += ds * p.q[qa + size_t(c)];
    }
}

Reference referenceOf(const Problem &p) {
  Reference r{Doubles(p.q.size()), Doubles(p.lse.size()), Doubles(p.q.size()), Doubles(p.k.size()),
              Doubles(p.k.size())};
  for (int64_t b = 0; b < p.what.batch; ++b)
    for (int64_t i = 0; i < p.what.q_rows; ++i)
      for (int64_t h = 0; h < p.what.kv_heads; ++h)
        for (int64_t g = 0; g < p.what.group; ++g)
          referenceRow(p, b, i, h, g, r);
  return r;
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

void expectEqualsF64(Problem &problem) {
  problem.forward();
  problem.backward();
  Reference reference = referenceOf(problem);
  expectClose("out", problem.out, reference.out);
  expectClose("lse", problem.lse, reference.lse);
  expectClose("dq", problem.dq, reference.dq);
  expectClose("dk", problem.dk, reference.dk);
  expectClose("dv", problem.dv, reference.dv);
}

class Attention : public testing::TestWithParam<Case> {};

TEST_P(Attention, EqualsF64) {
  Problem problem(GetParam());
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
/// Positions in no order, as of sequences dealt out over ranks.
TEST(AttentionOfMixedPositions, EqualsF64) {
  for (int64_t window : {0, 40}) {
    Problem problem({"", 1, 150, 170, 1, 2, 24, true, window, 0.2f, 0, 0});
    std::mt19937 random(11);
    std::shuffle(problem.qPositions.begin(), problem.qPositions.end(), random);
    std::shuffle(problem.kPositions.begin(), problem.kPositions.begin() + 100, random);
    expectEqualsF64(problem);
  }
}

INSTANTIATE_TEST_SUITE_P(Runtime, Attention, testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(AttentionBackward, NullGradientsAreNotComputed) {
  Case c{"", 1, 20, 20, 1, 2, 8, true, 0, 0, 0, 0};
  Problem whole(c), part(c);
  whole.forward(), whole.backward(), part.forward();
  void *buffers[] = {part.q.data(),
                     part.k.data(),
                     part.v.data(),
                     part.qPositions.data(),
                     part.kPositions.data(),
                     nullptr,
                     nullptr,
                     nullptr,
                     nullptr,
                     part.out.data(),
                     part.lse.data(),
                     part.dout.data(),
                     nullptr,
                     part.dk.data(),
                     nullptr};
  par_attention_backward(&part.context, &part.what, buffers);
  EXPECT_EQ(part.dk, whole.dk);
  EXPECT_TRUE(std::isnan(part.dq[0]) && std::isnan(part.dv[0]));
}

/// Rows of `from` as columns [at, at + width) of rows of `stride` elements.
void spread(const std::vector<float> &from, size_t width, size_t stride, size_t at,
            std::vector<float> &into) {
  for (size_t row = 0; row < from.size() / width; ++row)
    std::copy_n(from.begin() + long(row * width), width, into.begin() + long(row * stride + at));
}

TEST(AttentionBackward, RowsOfOneBuffer) {
  Case c{"", 2, 140, 140, 2, 2, 8, true, 0, 0, 0, 0};
  Problem apart(c), joint(c);
  apart.forward(), apart.backward();
  size_t q = 32, k = 16, stride = q + k + k + 3, rows = 2 * 140;
  std::vector<float> inputs(rows * stride, NAN), gradients(rows * stride, 7), expected = gradients;
  spread(joint.q, q, stride, 0, inputs), spread(joint.k, k, stride, q, inputs),
      spread(joint.v, k, stride, q + k, inputs);
  spread(apart.dq, q, stride, 0, expected), spread(apart.dk, k, stride, q, expected);
  spread(apart.dv, k, stride, q + k, expected);
  par_attention &what = joint.what;
  what.q_stride = what.k_stride = what.v_stride = what.dq_stride = what.dk_stride = what.dv_stride =
      int64_t(stride);
  void *buffers[] = {inputs.data(),
                     inputs.data() + q,
                     inputs.data() + q + k,
                     joint.qPositions.data(),
                     joint.kPositions.data(),
                     nullptr,
                     nullptr,
                     nullptr,
                     nullptr,
                     joint.out.data(),
                     joint.lse.data(),
                     joint.dout.data(),
                     gradients.data(),
                     gradients.data() + q,
                     gradients.data() + q + k};
  par_attention_forward(&joint.context, &what, buffers);
  par_attention_backward(&joint.context, &what, buffers);
  EXPECT_EQ(joint.out, apart.out);
  // What lies between the rows is left alone.
  EXPECT_EQ(gradients, expected);
}

TEST(AttentionForward, SameBytesEveryTime) {
  Problem a(cases[13]), b(cases[13]);
  a.forward(), b.forward();
  EXPECT_EQ(a.out, b.out);
}

} // namespace
