// Attention of random shapes, rows and numbers against f64: at every processor level, in f32 and in bf16 with
// each kind of units and without. A few shapes; with PAR_ATTENTION_SHAPES so many.
#include "AttentionProblem.h"
#include "UnitsEmulator.h"
#include "cpu/Levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

using par::cpu::Bf16Units;
using par::cpu::Level;
using par::test::AttentionProblem;
using par::test::AttentionReference;
using par::test::AttentionResults;

namespace {

class Draw {
public:
  explicit Draw(unsigned seed) : random(seed) {}

  int64_t upTo(int64_t most) { return 1 + int64_t(random() % uint32_t(most)); } ///< 1 … most
  bool oneOf(uint32_t count) { return random() % count == 0; }
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  /// 1 … most, small ones as often as large ones.
  int64_t magnitude(int64_t most) { return int64_t(std::exp(between(0, std::log(double(most) + 0.99)))); }
  void shuffle(std::vector<int32_t> &numbers) { std::shuffle(numbers.begin(), numbers.end(), random); }

private:
  std::mt19937 random;
};

/// Tables of positions and documents of one entry, or of all.
struct Rows {
  std::vector<int32_t> positions, documents;
};

/// Consecutive positions from a first one on, or in no order.
std::vector<int32_t> drawPositions(Draw &draw, int64_t rows) {
  std::vector<int32_t> positions(static_cast<size_t>(rows));
  std::iota(positions.begin(), positions.end(), draw.oneOf(3) ? int32_t(draw.upTo(80)) - 40 : 0);
  if (draw.oneOf(6))
    draw.shuffle(positions);
  return positions;
}

/// Documents one behind the other, positions from 0 in each or from the first to the last; or no order.
Rows drawDocuments(Draw &draw, int64_t rows, int64_t longest, bool restart) {
  Rows result;
  int32_t document = draw.oneOf(4) ? -3 : 0;
  for (int64_t row = 0; row < rows; ++document)
    for (int64_t length = draw.upTo(longest), i = 0; i < length && row < rows; ++i, ++row) {
      result.documents.push_back(document);
      result.positions.push_back(int32_t(restart ? i : row));
    }
  if (draw.oneOf(8))
    draw.shuffle(result.documents);
  return result;
}

void append(std::vector<int32_t> &to, const std::vector<int32_t> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

void drawTables(Draw &draw, AttentionProblem &problem) {
  const par_attention &what = problem.what;
  bool documents = draw.oneOf(2), restart = draw.oneOf(2),
       alike = what.q_rows == what.k_rows && draw.oneOf(2);
  int64_t longest = draw.magnitude(200);
  for (std::vector<int32_t> *table : {&problem.qPositions, &problem.kPositions})
    table->clear();
  for (int64_t entry = 0; entry < (what.rows_per_entry ? what.batch : 1); ++entry) {
    auto drawRows = [&](int64_t rows) {
      return documents ? drawDocuments(draw, rows, longest, restart) : Rows{drawPositions(draw, rows), {}};
    };
    Rows q = drawRows(what.q_rows), k = alike ? q : drawRows(what.k_rows);
    append(problem.qPositions, q.positions), append(problem.qDocuments, q.documents);
    append(problem.kPositions, k.positions), append(problem.kDocuments, k.documents);
  }
}

/// Rows so many that no shape takes long in f64.
void drawSizes(Draw &draw, par_attention &what) {
  what.head_dim = draw.magnitude(600), what.value_dim = draw.oneOf(3) ? what.head_dim : draw.magnitude(600);
  what.batch = draw.upTo(3), what.kv_heads = draw.upTo(3), what.group = draw.upTo(4);
  what.q_rows = draw.upTo(200), what.k_rows = draw.oneOf(2) ? what.q_rows : draw.upTo(200);
  auto work = [&] {
    return what.batch * what.kv_heads * what.group * what.q_rows * what.k_rows *
           (what.head_dim + what.value_dim + 20);
  };
  constexpr int64_t enough = 8000000;
  for (int64_t *count : {&what.batch, &what.kv_heads, &what.group})
    while (*count > 1 && work() > enough)
      --*count;
}

AttentionProblem drawProblem(unsigned seed) {
  Draw draw(seed);
  par_attention what{};
  drawSizes(draw, what);
  what.scale = float(draw.between(0.2, 2) / std::sqrt(double(what.head_dim)));
  what.cap = draw.oneOf(2) ? float(std::exp(draw.between(-1, 4))) : 0;
  what.causal = !draw.oneOf(4);
  what.window = draw.oneOf(3) ? draw.upTo(120) : 0;
  what.rows_per_entry = draw.oneOf(2);
  what.has_sinks = draw.oneOf(2), what.sinks_bf16 = draw.oneOf(2);
  what.dropout = draw.oneOf(4) ? 0.25f : 0;
  const int64_t keys = what.kv_heads * what.head_dim, values = what.kv_heads * what.value_dim;
  auto rows = [&](int64_t &stride, int64_t width) { stride = width + (draw.oneOf(3) ? draw.upTo(5) : 0); };
  rows(what.q_stride, keys * what.group), rows(what.dq_stride, keys * what.group);
  rows(what.k_stride, keys), rows(what.dk_stride, keys);
  rows(what.v_stride, values), rows(what.dv_stride, values);
  AttentionProblem problem(what, seed);
  drawTables(draw, problem);
  problem.round();
  return problem;
}

std::string describe(const par_attention &what) {
  return std::to_string(what.batch) + " x " + std::to_string(what.q_rows) + " queries, " +
         std::to_string(what.k_rows) + " keys, heads " + std::to_string(what.kv_heads) + " x " +
         std::to_string(what.group) + " of " + std::to_string(what.head_dim) + " and " +
         std::to_string(what.value_dim) + ", cap " + std::to_string(what.cap) + ", window " +
         std::to_string(what.window) + (what.causal ? ", causal" : "") +
         (what.rows_per_entry ? ", rows per entry" : "") + (what.has_sinks ? ", sinks" : "") +
         (what.dropout > 0 ? ", dropout" : "");
}

/// The largest difference in shares of the largest number, `size` at least, or infinity where something is no
/// number.
double errorOf(const std::vector<float> &actual, const std::vector<double> &expected, double size) {
  double error = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isinf(expected[i])) {
      error = double(actual[i]) == expected[i] ? error : INFINITY;
      continue;
    }
    if (!std::isfinite(actual[i]))
      return INFINITY;
    error = std::max(error, std::abs(double(actual[i]) - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  return error == 0 ? 0 : error / size; // 0 of 0 where nothing is seen
}

void expectClose(const AttentionResults<float> &actual, const AttentionReference &expected, double tolerance,
                 const std::string &where) {
  // lse is f32 in all types.
  EXPECT_LE(errorOf(actual.lse, expected.lse, 1), 2e-6) << where << ": lse";
  EXPECT_LE(errorOf(actual.out, expected.out, 0.01), tolerance) << where << ": out";
  EXPECT_LE(errorOf(actual.dq, expected.dq, expected.largestTerm), tolerance) << where << ": dq";
  EXPECT_LE(errorOf(actual.dk, expected.dk, expected.largestTerm), tolerance) << where << ": dk";
  EXPECT_LE(errorOf(actual.dv, expected.dv, 0.01), tolerance) << where << ": dv";
}

/// Levels in use for as long as it lives.
struct WithLevel {
  explicit WithLevel(Level level) { par::cpu::useLevel(level); }
  ~WithLevel() { par::cpu::useLevel(par::cpu::supportedLevel()); }
};

/// Emulated units trap at every instruction.
bool isSlow(Bf16Units units, const par_attention &what) {
  if (units == par::cpu::supportedBf16Units())
    return false;
  int64_t tiles = (what.q_rows + 63) / 64 * ((what.k_rows + 63) / 64);
  int64_t work = what.batch * what.kv_heads * what.group * tiles * (what.head_dim + what.value_dim + 64);
  return work > (units == Bf16Units::dot ? 200 : 2000);
}

void testShape(unsigned seed, const std::vector<Bf16Units> &allUnits) {
  AttentionProblem problem = drawProblem(seed);
  const AttentionReference expected = problem.reference();
  const std::string name = "shape " + std::to_string(seed) + ", " + describe(problem.what);
  par::cpu::CpuDevice device({.threads = seed % 4 == 0 ? 2 : 1});
  par::device::Context context;
  context.device = &device;
  for (Level level : {Level::base, Level::v3, Level::v4}) {
    if (level > par::cpu::supportedLevel())
      continue;
    WithLevel with(level);
    const std::string at = name + ", " + nameOf(level);
    expectClose(problem.compute(context), expected, 5e-6, at + ", f32");
    par::test::WithBf16Units widened(Bf16Units::none);
    expectClose(problem.computeBf16(context), expected, 0.012, at + ", bf16");
  }
  for (Bf16Units units : allUnits) {
    if (units == Bf16Units::none || isSlow(units, problem.what))
      continue;
    par::test::WithBf16Units with(units);
    expectClose(problem.computeBf16(context), expected, 0.02, name + ", bf16 by " + nameOf(units));
  }
}

TEST(AttentionShapes, EqualF64AtEveryLevel) {
  const char *wanted = std::getenv("PAR_ATTENTION_SHAPES");
  const int count = wanted ? std::atoi(wanted) : 60;
  ASSERT_GT(count, 0) << "PAR_ATTENTION_SHAPES: a number of shapes";
  const std::vector<Bf16Units> allUnits = par::test::testableBf16Units();
  for (int seed = 0; seed < count; ++seed)
    testShape(unsigned(seed), allUnits);
}

} // namespace
