//===- JudgeRows.cpp - how far predictions are from what was measured -----------------------------------===//
#include "JudgeRows.h"

#include <cmath>
#include <map>

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

OrderScore mlir::par::judgeOrder(ArrayRef<JudgedRow> rows) {
  using Key = std::tuple<std::string, int64_t, int64_t, int64_t, int64_t, int64_t>;
  std::map<Key, std::vector<const JudgedRow *>> sets;
  for (const JudgedRow &judged : rows) {
    const RowModel &model = judged.row->model;
    sets[{judged.row->group, model.layers, model.hidden, model.heads, judged.row->cluster.ranks,
          judged.row->plan.batch}]
        .push_back(&judged);
  }
  OrderScore score;
  for (const auto &[key, set] : sets) {
    if (set.size() < 2)
      continue;
    for (size_t left = 0; left < set.size(); ++left)
      for (size_t right = left + 1; right < set.size(); ++right) {
        double measured = set[left]->row->seconds / set[right]->row->seconds;
        if (std::max(measured, 1 / measured) <= 1.1)
          continue;
        ++score.pairs;
        bool isFirst = set[left]->prediction.seconds < set[right]->prediction.seconds;
        score.right += isFirst == (measured < 1);
      }
    auto byMeasured = [](auto *a, auto *b) { return a->row->seconds < b->row->seconds; };
    auto byPrediction = [](auto *a, auto *b) { return a->prediction.seconds < b->prediction.seconds; };
    double best = (*llvm::min_element(set, byMeasured))->row->seconds;
    double behind = (*llvm::min_element(set, byPrediction))->row->seconds / best - 1;
    ++score.choices;
    score.behind += behind;
    score.worst = std::max(score.worst, behind);
  }
  return score;
}
