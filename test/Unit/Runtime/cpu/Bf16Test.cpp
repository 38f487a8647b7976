// bf16 in the runtime: rounding, products and attention against their f32 counterparts.
#include "cpu/Bf16.h"
#include "UnitsEmulator.h"
#include "cpu/Context.h"
#include "par/io/FloatTypes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace {

using Words = std::vector<uint16_t>;

Words round(const std::vector<float> &values) {
  Words words;
  for (float value : values)
    words.push_back(par::io::floatToBfloat(value));
  return words;
}

std::vector<float> widen(const Words &words) {
  std::vector<float> values;
  for (uint16_t word : words)
    values.push_back(par::io::bfloatToFloat(word));
  return values;
}

std::vector<float> normal(int64_t count, int seed) {
  std::mt19937 random{uint32_t(seed)};
  std::normal_distribution<float> distribution;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = distribution(random);
  return values;
}

// Every upper half with lower halves around the tie: to nearest, ties to even, infinities and NaN kept.
TEST(Bf16, RoundsAsFilesDo) {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 0x10000; upper += 3)
    for (uint32_t lower : {0u, 1u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
      uint32_t bits = upper << 16 | lower;
      float value;
      std::memcpy(&value, &bits, 4);
      values.push_back(value);
    }
  Words rounded(values.size());
  par::cpu::roundRow(values.data(), rounded.data(), int64_t(values.size()));
  EXPECT_EQ(rounded, round(values));
  std::vector<float> wide(rounded.size());
  par::cpu::widenRow(rounded.data(), wide.data(), int64_t(wide.size()));
  EXPECT_EQ(std::memcmp(wide.data(), widen(rounded).data(), wide.size() * sizeof(float)), 0);
}

struct Shape {
  bool transposeA, transposeB, narrow;
  int64_t m, n, k;
  float beta;
  int64_t workspace; ///< bytes; 0: what the compiler plans
};

struct Variant {
  par::cpu::Bf16Units units;
  int threads;
  bool inPlace;
};

/// Of a product of so many terms in all: emulated units are slow.
std::vector<Variant> variants(int64_t terms) {
  using par::cpu::Bf16Units;
  std::vector<Variant> all;
  for (int threads : {1, 3})
    for (bool inPlace : {false, true})
      all.push_back({Bf16Units::none, threads, inPlace});
  for (Bf16Units units : par::test::testableBf16Units())
    if (units != Bf16Units::none && terms < 300000)
      all.push_back({units, 3, true});
  return all;
}

class Bf16Gemm : public testing::TestWithParam<Shape> {};

/// Sums of products of small integers are exact in f32 in every order; rounding is checked on what they give.
TEST_P(Bf16Gemm, EqualsLoops) {
  auto [ta, tb, narrow, m, n, k, beta, bytes] = GetParam();
  int64_t batch = 4, lda = (ta ? m : k) + 2, ldb = (tb ? k : n) + 1, ldc = n + 3;
  int64_t strideA = (ta ? k : m) * lda + 5, strideB = (tb ? n : k) * ldb, strideC = m * ldc + 4;
  auto integers = [](int64_t count, int seed) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(float((i * 7 + seed * 3 + i / 5) % 37 - 18));
    return values;
  };
  std::vector<float> a = integers(batch * strideA, 1), b = integers(batch * strideB, 2),
                     d = integers(batch * strideC, 3);
  if (beta == 0)
    std::fill(d.begin(), d.end(), NAN); // not read: it may be the arena's paint
  if (bytes == 0)
    bytes = narrow ? par_gemm_bf16_workspace(m, n, batch) : 0;
  std::vector<char> workspace(static_cast<size_t>(bytes));
  Words wordsA = round(a), wordsB = round(b);
  for (auto [units, threads, inPlace] : variants(m * n * k)) {
    par::test::WithBf16Units with(units);
    par::cpu::CpuDevice device({threads});
    par::device::Context context;
    context.device = &device;
    std::vector<float> wide = inPlace ? d : std::vector<float>(d.size(), NAN);
    Words words = round(wide), addends = round(d);
    void *c = narrow ? static_cast<void *>(words.data()) : wide.data();
    void *addend = inPlace ? c : narrow ? static_cast<void *>(addends.data()) : d.data();
    par_gemm_bf16(&context, ta, tb, m, n, k, wordsA.data(), lda, strideA, wordsB.data(), ldb, strideB, beta,
                  addend, c, ldc, strideC, batch, narrow, workspace.data(), bytes);
    if (narrow)
      wide = widen(words);
    for (int64_t i = 0; i < batch; ++i)
      for (int64_t row = 0; row < m; ++row)
        for (int64_t column = 0; column < n; ++column) {
          size_t at = size_t(i * strideC + row * ldc + column);
          float sum = 0, added = beta == 0 ? 0 : beta * d[at];
          for (int64_t j = 0; j < k; ++j)
            sum += a[size_t(i * strideA + (ta ? j * lda + row : row * lda + j))] *
                   b[size_t(i * strideB + (tb ? column * ldb + j : j * ldb + column))];
          auto rounded = [](float value) { return par::io::bfloatToFloat(par::io::floatToBfloat(value)); };
          float expected = narrow ? rounded(rounded(sum) + rounded(added)) : sum + added;
          ASSERT_EQ(wide[at], expected) << "batch " << i << " row " << row << " column " << column;
        }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runtime, Bf16Gemm,
    testing::Values(
        Shape{false, false, false, 5, 7, 3, 0, 0}, Shape{true, false, true, 5, 7, 3, 1, 0},
        Shape{false, true, true, 17, 33, 65, 0, 0}, Shape{true, true, false, 9, 1, 130, 1, 0},
        // More terms than are multiplied at once, room for a few rows, many threads.
        Shape{false, false, true, 61, 83, 700, 1, 40000}, Shape{true, true, false, 61, 83, 700, 0.5f, 40000},
        Shape{true, false, true, 120, 90, 513, 0, 1 << 20},
        Shape{false, true, false, 90, 120, 257, 1, 1 << 20},
        // Room for a square, for whole columns and for a single element; products for every thread.
        Shape{false, true, true, 120, 90, 257, 1, 20000}, Shape{true, false, true, 20, 300, 9, 1, 9000},
        Shape{true, true, true, 3, 4, 5, 1, 4}, Shape{false, false, true, 4, 6, 0, 1, 64},
        Shape{false, false, false, 4, 6, 0, 2, 64}));

/// Heads of `dim` in one piece.
par_attention attentionOf(int64_t batch, int64_t qRows, int64_t kRows, int64_t kvHeads, int64_t group,
                          int64_t dim, int64_t window, float dropout) {
  par_attention what{};
  what.batch = batch, what.q_rows = qRows, what.k_rows = kRows;
  what.kv_heads = kvHeads, what.group = group, what.head_dim = what.value_dim = dim;
  what.scale = 0.3f, what.causal = 1, what.window = window, what.dropout = dropout;
  what.strides[1] = group * kRows * kvHeads, what.strides[2] = group * kRows;
  what.strides[3] = kRows, what.strides[4] = 1;
  what.k_stride = what.v_stride = what.dk_stride = what.dv_stride = kvHeads * dim;
  what.q_stride = what.dq_stride = kvHeads * dim * group;
  return what;
}

/// Attention on bf16 is the f32 attention of the same numbers, rounded.
struct Attention {
  par_attention what;
  std::vector<float> q, k, v, dout, lse;
  std::vector<int32_t> qPositions, kPositions;
  int32_t key[2] = {7, -9}, site = 3, row = 5, offsets[5] = {2, 7, 1, 3, 11};

  explicit Attention(float dropout) : Attention(attentionOf(5, 19, 23, 2, 3, 8, 0, dropout)) {}
  explicit Attention(const par_attention &what)
      : what(what), q(widen(round(normal(qSize(), 1)))), k(widen(round(normal(kSize(), 2)))),
        v(widen(round(normal(kSize(), 3)))), dout(widen(round(normal(qSize(), 4)))),
        lse(size_t(what.batch * what.kv_heads * what.group * what.q_rows), NAN),
        qPositions(size_t(what.q_rows)), kPositions(size_t(what.k_rows)) {
    std::iota(qPositions.begin(), qPositions.end(), 6);
    std::iota(kPositions.begin(), kPositions.end(), 2);
  }
  int64_t qSize() const { return what.batch * what.q_rows * what.kv_heads * what.group * what.head_dim; }
  int64_t kSize() const { return what.batch * what.k_rows * what.kv_heads * what.head_dim; }

  std::vector<void *> inputs(void *q, void *k, void *v) {
    return {q,     k,    v,      qPositions.data(), kPositions.data(), nullptr, nullptr, nullptr, key,
            &site, &row, offsets};
  }

  struct Results {
    std::vector<float> out, lse, dq, dk, dv;
  };

  /// In f32, but that the backward pass takes the out that bf16 stores.
  Results computeF32(par::device::Context &context) {
    std::vector<float> queries(size_t(qSize()), NAN), keys(size_t(kSize()), NAN);
    Results results{queries, lse, queries, keys, keys};
    std::vector<void *> list = inputs(q.data(), k.data(), v.data());
    list.insert(list.end(), {results.out.data(), results.lse.data()});
    par_attention_forward(&context, &what, list.data());
    std::vector<float> stored = widen(round(results.out));
    list[par_attention_out] = stored.data();
    list.insert(list.end(), {dout.data(), results.dq.data(), results.dk.data(), results.dv.data()});
    par_attention_backward(&context, &what, list.data());
    return results;
  }

  /// In bf16, with so much workspace.
  Results computeBf16(par::device::Context &context, int64_t forwardBytes, int64_t backwardBytes) {
    Words wordsQ = round(q), wordsK = round(k), wordsV = round(v), wordsDout = round(dout);
    Words out(wordsQ.size(), 0x7FC0), dq = out, dk(wordsK.size(), 0x7FC0), dv = dk;
    Results results{{}, lse, {}, {}, {}};
    std::vector<float> workspace(size_t(std::max(forwardBytes, backwardBytes)) / 4, NAN);
    std::vector<void *> list = inputs(wordsQ.data(), wordsK.data(), wordsV.data());
    list.insert(list.end(), {out.data(), results.lse.data()});
    par_attention_forward_bf16(&context, &what, list.data(), workspace.data(), forwardBytes);
    list.insert(list.end(), {wordsDout.data(), dq.data(), dk.data(), dv.data()});
    par_attention_backward_bf16(&context, &what, list.data(), workspace.data(), backwardBytes);
    results.out = widen(out), results.dq = widen(dq), results.dk = widen(dk), results.dv = widen(dv);
    return results;
  }

  /// Workspace for so many rows of the batch.
  int64_t workspaceOf(int64_t rows, bool backward) const {
    return rows * par_attention_bf16_workspace(&what, backward);
  }
};

TEST(Bf16, AttentionIsThatOfF32Rounded) {
  par::test::WithBf16Units widened(par::cpu::Bf16Units::none);
  for (float dropout : {0.0f, 0.25f}) {
    Attention p(dropout);
    par::cpu::CpuDevice device({2});
    par::device::Context context;
    context.device = &device;
    Attention::Results expected = p.computeF32(context);
    for (int64_t rows : {1, 2, 5}) { // of the batch at once
      Attention::Results results =
          p.computeBf16(context, p.workspaceOf(rows, false), p.workspaceOf(rows, true));
      EXPECT_EQ(results.out, widen(round(expected.out))) << rows << " rows, dropout " << dropout;
      EXPECT_EQ(results.lse, expected.lse);
      EXPECT_EQ(results.dq, widen(round(expected.dq))) << rows << " rows, dropout " << dropout;
      EXPECT_EQ(results.dk, widen(round(expected.dk)));
      EXPECT_EQ(results.dv, widen(round(expected.dv)));
    }
  }
}

// Rows of q, k, v and of their gradients may lie in the rows of one buffer each; what lies between stays.
void attendOnRowsOfOneBuffer() {
  Attention p(0.0f);
  par::device::Context context;
  Words q = round(p.q), k = round(p.k), v = round(p.v), dout = round(p.dout), out(q.size()), dq(q.size()),
        dk(k.size()), dv(k.size());
  std::vector<char> workspace(size_t(2 * par_attention_bf16_workspace(&p.what, 1)));
  auto run = [&](std::vector<void *> list, void *gq, void *gk, void *gv) {
    list.insert(list.end(), {out.data(), p.lse.data()});
    par_attention_forward_bf16(&context, &p.what, list.data(), workspace.data(), int64_t(workspace.size()));
    list.insert(list.end(), {dout.data(), gq, gk, gv});
    par_attention_backward_bf16(&context, &p.what, list.data(), workspace.data(), int64_t(workspace.size()));
  };
  p.what.k_rows = p.what.q_rows; // rows of keys and queries are rows of one buffer
  run(p.inputs(q.data(), k.data(), v.data()), dq.data(), dk.data(), dv.data());
  size_t wide = 48, narrow = 16, stride = wide + 2 * narrow + 3, rows = size_t(p.what.batch * p.what.q_rows);
  Words inputs(rows * stride), gradients(rows * stride, 7), expected = gradients, apart = out;
  auto spread = [&](const Words &from, size_t width, size_t at, Words &into) {
    for (size_t row = 0; row < rows; ++row)
      std::copy_n(from.begin() + long(row * width), width, into.begin() + long(row * stride + at));
  };
  spread(q, wide, 0, inputs), spread(k, narrow, wide, inputs), spread(v, narrow, wide + narrow, inputs);
  spread(dq, wide, 0, expected), spread(dk, narrow, wide, expected),
      spread(dv, narrow, wide + narrow, expected);
  par_attention &what = p.what;
  what.q_stride = what.k_stride = what.v_stride = what.dq_stride = what.dk_stride = what.dv_stride =
      int64_t(stride);
  run(p.inputs(inputs.data(), inputs.data() + wide, inputs.data() + wide + narrow), gradients.data(),
      gradients.data() + wide, gradients.data() + wide + narrow);
  EXPECT_EQ(out, apart);
  EXPECT_EQ(gradients, expected);
}

TEST(Bf16, AttentionOnRowsOfOneBuffer) {
  for (par::cpu::Bf16Units units : par::test::testableBf16Units()) {
    if (units == par::cpu::Bf16Units::dot)
      continue; // as below
    par::test::WithBf16Units with(units);
    attendOnRowsOfOneBuffer();
  }
}

/// What differs more than the roundings of probabilities and gradients of scores explain.
void expectNear(const std::vector<float> &values, const std::vector<float> &expected, float tolerance,
                const std::string &what) {
  float most = 0;
  for (float value : expected)
    most = std::max(most, std::abs(value));
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], tolerance * most) << what << " at " << i;
}

class Bf16AttentionByUnits : public testing::TestWithParam<par_attention> {};

TEST_P(Bf16AttentionByUnits, IsThatOfF32) {
  Attention p(GetParam());
  par::cpu::CpuDevice device({2});
  par::device::Context context;
  context.device = &device;
  Attention::Results expected = p.computeF32(context);
  for (par::cpu::Bf16Units units : par::test::testableBf16Units()) {
    if (units == par::cpu::Bf16Units::dot && p.what.q_rows > 64)
      continue; // emulated, it traps 16 times as often as tiles, and differs from them in one function only
    par::test::WithBf16Units with(units);
    std::string name = nameOf(units);
    Attention::Results results = p.computeBf16(context, p.workspaceOf(1, false), p.workspaceOf(1, true));
    expectNear(results.out, expected.out, 0.01f, name + " out");
    expectNear(results.lse, expected.lse, 1e-5f, name + " lse");
    expectNear(results.dq, expected.dq, 0.01f, name + " dq");
    expectNear(results.dk, expected.dk, 0.01f, name + " dk");
    expectNear(results.dv, expected.dv, 0.01f, name + " dv");
  }
}

// Gradients of keys and values are summed up for as many rows of the batch as the workspace has room for.
TEST(Bf16, AttentionOfManyRowsOfTheBatchIsThatOfFew) {
  Attention p(attentionOf(3, 5, 9, 1, 1, 8, 0, 0));
  par::device::Context context;
  for (par::cpu::Bf16Units units : par::test::testableBf16Units()) {
    if (units == par::cpu::Bf16Units::dot)
      continue;
    par::test::WithBf16Units with(units);
    Attention::Results expected = p.computeBf16(context, p.workspaceOf(3, false), p.workspaceOf(3, true));
    int64_t sumsOfARow = 2 * p.what.k_rows * 8 * int64_t(sizeof(float));
    for (int64_t rows : {2, 1}) {
      int64_t bytes = units == par::cpu::Bf16Units::none ? p.workspaceOf(rows, true) : rows * sumsOfARow;
      Attention::Results results = p.computeBf16(context, p.workspaceOf(rows, false), bytes);
      EXPECT_EQ(results.dq, expected.dq) << nameOf(units) << ", room for " << rows << " rows";
      EXPECT_EQ(results.dk, expected.dk) << nameOf(units) << ", room for " << rows << " rows";
      EXPECT_EQ(results.dv, expected.dv) << nameOf(units) << ", room for " << rows << " rows";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Runtime, Bf16AttentionByUnits,
                         testing::Values(
                             // Less than a tile of either; whole tiles; several tiles, with a rest of all.
                             attentionOf(1, 5, 9, 1, 2, 8, 0, 0), attentionOf(1, 64, 64, 1, 1, 32, 0, 0),
                             attentionOf(1, 128, 128, 1, 1, 64, 0, 0),
                             attentionOf(1, 70, 131, 1, 2, 40, 0, 0.2f),
                             attentionOf(2, 67, 67, 1, 1, 24, 20, 0)));

} // namespace
