//===- JudgeRows.cpp - how far predictions are from what was measured -----------------------------------===//
#include "JudgeRows.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

using namespace mlir::par;
using llvm::ArrayRef;

double mlir::par::getError(ArrayRef<JudgedRow> rows, double efficiency) {
  double sum = 0;
  for (const JudgedRow &judged : rows)
    sum += std::abs(judged.getRatio() / efficiency - 1);
  return rows.empty() ? 0 : sum / double(rows.size());
}

/// The error is piecewise linear in 1 / efficiency: it is least where one row is met.
double mlir::par::fitEfficiency(ArrayRef<JudgedRow> rows) {
  double best = 1, least = std::numeric_limits<double>::infinity();
  for (const JudgedRow &judged : rows)
    if (double error = getError(rows, judged.getRatio()); error < least) {
      least = error;
      best = judged.getRatio();
    }
  return best;
}

double mlir::par::getCrossError(ArrayRef<JudgedRow> rows) {
  std::vector<JudgedRow> halves[2];
  for (auto [number, judged] : llvm::enumerate(rows))
    halves[number % 2].push_back(judged);
  if (halves[1].empty())
    return getError(rows, fitEfficiency(rows));
  double sum = 0;
  for (int half : {0, 1})
    sum += getError(halves[half], fitEfficiency(halves[1 - half])) * double(halves[half].size());
  return sum / double(rows.size());
}

std::optional<double> mlir::par::getMemoryError(ArrayRef<JudgedRow> rows) {
  double sum = 0;
  int64_t count = 0;
  for (const JudgedRow &judged : rows)
    if (judged.row->peakBytes > 0) {
      sum += std::abs(judged.prediction.peakBytes / judged.row->peakBytes - 1);
      ++count;
    }
  return count > 0 ? std::optional(sum / double(count)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// The order of plans
//===----------------------------------------------------------------------===//

using RowSet = std::vector<const JudgedRow *>;

/// Of one model on one cluster with one batch.
static std::vector<RowSet> divideIntoSets(ArrayRef<JudgedRow> rows) {
  auto getKey = [](const Row &row) {
    return std::tuple(row.group, row.model.getSizes(), row.cluster.getParts(), row.plan.batch);
  };
  std::map<decltype(getKey(Row())), RowSet> sets;
  for (const JudgedRow &judged : rows)
    sets[getKey(*judged.row)].push_back(&judged);
  std::vector<RowSet> list;
  for (auto &[key, set] : sets)
    list.push_back(std::move(set));
  return list;
}

static void visitPairs(const RowSet &set,
                       llvm::function_ref<void(const JudgedRow &, const JudgedRow &)> see) {
  for (size_t left = 0; left < set.size(); ++left)
    for (size_t right = left + 1; right < set.size(); ++right)
      see(*set[left], *set[right]);
}

static bool isClose(double ratio) { return std::max(ratio, 1 / ratio) <= 1.1; }

static void addPairs(const RowSet &set, OrderScore &score) {
  visitPairs(set, [&](const JudgedRow &left, const JudgedRow &right) {
    double measured = left.row->seconds / right.row->seconds;
    if (isClose(measured))
      return;
    ++score.pairs;
    bool isFirst = left.prediction.seconds < right.prediction.seconds;
    score.right += isFirst == (measured < 1);
  });
}

/// By the same software, too.
static bool haveSamePlan(const Row &left, const Row &right) {
  return left.plan == right.plan && left.recompute == right.recompute && left.sumsInF32 == right.sumsInF32;
}

/// A plan that was measured more than once took the average.
static double averagePlan(const RowSet &set, const Row &row) {
  double sum = 0;
  int64_t count = 0;
  for (const JudgedRow *judged : set)
    if (haveSamePlan(*judged->row, row)) {
      sum += judged->row->seconds;
      ++count;
    }
  return sum / double(count);
}

static void addChoice(const RowSet &set, OrderScore &score) {
  auto byPrediction = [](auto *a, auto *b) { return a->prediction.seconds < b->prediction.seconds; };
  double best = std::numeric_limits<double>::infinity();
  for (const JudgedRow *judged : set)
    best = std::min(best, averagePlan(set, *judged->row));
  double behind = averagePlan(set, *(*llvm::min_element(set, byPrediction))->row) / best - 1;
  ++score.choices;
  score.behind += behind;
  score.worst = std::max(score.worst, behind);
}

OrderScore mlir::par::judgeOrder(ArrayRef<JudgedRow> rows) {
  OrderScore score;
  for (const RowSet &set : divideIntoSets(rows))
    if (set.size() > 1) {
      addPairs(set, score);
      addChoice(set, score);
    }
  return score;
}

ComparisonScore mlir::par::judgeComparisons(ArrayRef<JudgedRow> rows) {
  std::vector<double> errors;
  for (const RowSet &set : divideIntoSets(rows))
    visitPairs(set, [&](const JudgedRow &left, const JudgedRow &right) {
      double predicted = left.prediction.seconds / right.prediction.seconds;
      double measured = left.row->seconds / right.row->seconds;
      if (isClose(predicted) && !haveSamePlan(*left.row, *right.row))
        errors.push_back(std::abs(predicted / measured - 1));
    });
  if (errors.empty())
    return {};
  llvm::sort(errors);
  double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  return {int64_t(errors.size()), errors[errors.size() / 2], sum / double(errors.size())};
}

//===----------------------------------------------------------------------===//
// Gains of split backward passes
//===----------------------------------------------------------------------===//

static const JudgedRow *findOneFOneB(const Row &row, ArrayRef<JudgedRow> rows) {
  Row plain = row;
  plain.plan.schedule = ScheduleKind::OneFOneB;
  plain.plan.chunks = 1;
  for (const JudgedRow &other : rows)
    if (other.row->model.getSizes() == row.model.getSizes() &&
        other.row->cluster.getParts() == row.cluster.getParts() && haveSamePlan(*other.row, plain))
      return &other;
  return nullptr;
}

GainScore mlir::par::judgeGain(ArrayRef<JudgedRow> rows, ScheduleKind schedule) {
  GainScore score;
  for (const JudgedRow &judged : rows) {
    const JudgedRow *plain =
        judged.row->plan.schedule == schedule ? findOneFOneB(*judged.row, rows) : nullptr;
    if (!plain)
      continue;
    double measured = 1 - judged.row->seconds / plain->row->seconds;
    double predicted = 1 - judged.prediction.seconds / plain->prediction.seconds;
    ++score.pairs;
    score.measured += measured;
    score.predicted += predicted;
    score.error += std::abs(predicted - measured);
  }
  for (double *sum : {&score.measured, &score.predicted, &score.error})
    *sum /= double(std::max<int64_t>(score.pairs, 1));
  return score;
}

//===----------------------------------------------------------------------===//
// Rows that contradict each other
//===----------------------------------------------------------------------===//

/// Whether the rows differ in their numbers of micro-batches alone, of which `row` has fewer.
static bool hasFewer(const Row &row, const Row &other) {
  Row same = other;
  same.plan.batch = row.plan.batch;
  same.plan.microBatches = row.plan.microBatches;
  bool areRowsEven = row.plan.batch * other.plan.microBatches == other.plan.batch * row.plan.microBatches;
  return row.model.getSizes() == other.model.getSizes() &&
         row.cluster.getParts() == other.cluster.getParts() && areRowsEven && haveSamePlan(row, same) &&
         row.plan.microBatches < other.plan.microBatches;
}

/// A stage has n micro-batches and waits for as many as there are other stages. What does not grow with them
/// would be most of the step.
static bool contradicts(const Row &row, const Row &more) {
  auto count = [](const Row &of) { return double(of.plan.microBatches + of.plan.countStages() - 1); };
  double grown = more.seconds * count(row) / count(more);
  return row.seconds > (grown + more.seconds) / 2;
}

const JudgedRow *mlir::par::findContradiction(const JudgedRow &judged, ArrayRef<JudgedRow> rows) {
  for (const JudgedRow &other : rows)
    if (hasFewer(*judged.row, *other.row) && contradicts(*judged.row, *other.row))
      return &other;
  return nullptr;
}
