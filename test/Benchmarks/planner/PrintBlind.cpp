//===- PrintBlind.cpp - how far first predictions are off -----------------------------------------------===//
#include "PrintBlind.h"
#include "PrintSummary.h"
#include "par/Planner/PlanClaim.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <map>

using namespace mlir::par;

/// Divides rows by group.
static std::map<std::string, std::vector<JudgedRow>> divide(llvm::ArrayRef<JudgedRow> rows) {
  std::map<std::string, std::vector<JudgedRow>> groups;
  for (const JudgedRow &judged : rows)
    groups[judged.row->group].push_back(judged);
  return groups;
}

static double getStoredError(llvm::ArrayRef<JudgedRow> rows, llvm::ArrayRef<Stack> stacks) {
  return getError(rows, getStored(*rows.front().stack, stacks));
}

static void printGroup(llvm::StringRef group, llvm::ArrayRef<JudgedRow> first,
                       llvm::ArrayRef<JudgedRow> without, std::optional<double> now) {
  llvm::outs() << llvm::formatv("{0,-18} {1,4}  {2,6:f1} %  {3,18:f1} %", group, first.size(),
                                100 * getError(first, 1), 100 * getError(without, 1));
  if (now)
    llvm::outs() << llvm::formatv("  {0,4:f1} %", 100 * *now);
  llvm::outs() << "\n";
}

void mlir::par::printBlind(const BlindRows &rows, llvm::ArrayRef<Stack> stacks) {
  if (rows.withStack.empty())
    return;
  llvm::outs() << llvm::formatv("\n{0,-18} rows  at first  without stack file  {1}\n", "blind",
                                rows.now.empty() ? "" : "now");
  auto with = divide(rows.withStack), without = divide(rows.withoutStack), now = divide(rows.now);
  double sum = 0;
  for (const auto &[group, first] : with) {
    std::optional<double> error;
    if (!now[group].empty())
      error = getStoredError(now[group], stacks);
    sum += error.value_or(0) * double(first.size());
    printGroup(group, first, without[group], error);
  }
  printGroup("all", rows.withStack, rows.withoutStack,
             rows.now.empty() ? std::nullopt : std::optional(sum / double(rows.withStack.size())));
  for (auto [name, judged] : {std::pair("with", &rows.withStack), {"without", &rows.withoutStack}})
    if (ComparisonScore score = judgeComparisons(*judged); score.pairs > 0)
      llvm::outs() << llvm::formatv("blind, {0} stack file: {1} pairs at most 10 % apart, half of them less "
                                    "than {2:f1} % off, {3:f1} % on average\n",
                                    name, score.pairs, 100 * score.median, 100 * score.mean);
}

static bool checkClaim(const char *name, const MeasuredError &claimed, double error, size_t count) {
  auto round = [](double share) { return std::round(1000 * share) / 10; };
  if (round(claimed.error) == round(error) && claimed.count == int64_t(count))
    return true;
  llvm::errs() << llvm::formatv("error: par-plan claims {0:f1} % of {1} for {2}, but these rows say {3:f1} "
                                "% of {4}; change lib/Planner/PlanClaim.cpp\n",
                                100 * claimed.error, claimed.count, name, 100 * error, count);
  return false;
}

bool mlir::par::checkClaims(const BlindRows &rows) {
  const PublishedErrors &claimed = getPublishedErrors();
  ComparisonScore pairs = judgeComparisons(rows.withStack);
  bool isDescribed =
      checkClaim("a stack file", claimed.described, getError(rows.withStack, 1), rows.withStack.size());
  bool isUndescribed = checkClaim("no stack file", claimed.undescribed, getError(rows.withoutStack, 1),
                                  rows.withoutStack.size());
  bool isCompared = checkClaim("a comparison", claimed.comparison, pairs.median, size_t(pairs.pairs));
  return isDescribed && isUndescribed && isCompared;
}
