//===- PrintSummary.cpp - how far predictions are off, by software and by source ------------------------===//
#include "PrintSummary.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir::par;

using Groups = std::map<std::string, std::vector<JudgedRow>>;

static Groups divide(llvm::ArrayRef<JudgedRow> rows,
                     llvm::function_ref<std::string(const JudgedRow &)> getGroup) {
  Groups groups;
  for (const JudgedRow &judged : rows)
    groups[getGroup(judged)].push_back(judged);
  return groups;
}

static double getMedian(std::vector<double> values) {
  llvm::sort(values);
  return values.empty() ? 1 : values[values.size() / 2];
}

double mlir::par::getStored(const Stack &stack, llvm::ArrayRef<Stack> stacks) {
  std::vector<double> known;
  for (const Stack &other : stacks)
    if (other.efficiency)
      known.push_back(*other.efficiency);
  return stack.efficiency ? *stack.efficiency : getMedian(known);
}

static std::string describe(const OrderScore &order) {
  return llvm::formatv("{0,4} of {1,4}      {2:f1} %, at most {3:f1} %", order.right, order.pairs,
                       100 * order.behind / double(order.choices), 100 * order.worst);
}

/// Rows that cannot be, beside others, and the order of plans without them.
static void printContradictions(const Groups &groups) {
  for (const auto &[group, rows] : groups) {
    std::vector<JudgedRow> rest;
    for (const JudgedRow &judged : rows) {
      const JudgedRow *other = findContradiction(judged, rows);
      if (!other)
        rest.push_back(judged);
      else
        llvm::outs() << llvm::formatv("{0}: {1:f2} s for {2} micro-batches, but {3:f2} s for {4} in {5}\n",
                                      judged.row->id, judged.row->seconds, judged.row->plan.microBatches,
                                      other->row->seconds, other->row->plan.microBatches, other->row->id);
    }
    if (OrderScore order = judgeOrder(rest); rest.size() < rows.size() && order.pairs > 0)
      llvm::outs() << llvm::formatv("{0,-18} without: {1}\n", group, describe(order));
  }
}

/// Prints the share of 1F1B's step that backward passes in two parts save, measured and predicted.
static void printGains(const Groups &groups) {
  for (const auto &[group, rows] : groups)
    for (ScheduleKind schedule : {ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbV})
      if (GainScore gain = judgeGain(rows, schedule); gain.pairs > 0)
        llvm::outs() << llvm::formatv(
            "{0,-18} {1} saves of 1f1b's step {2:f1} %, predicted {3:f1} %; {4} pairs, "
            "{5:f1} points off\n",
            group, getName(schedule), 100 * gain.measured, 100 * gain.predicted, gain.pairs,
            100 * gain.error);
}

namespace {
/// Mean errors of some rows.
struct Errors {
  double asIs = 0, fittedOnHalf = 0, withStored = 0;

  void add(const Errors &other, size_t count) {
    asIs += other.asIs * double(count);
    fittedOnHalf += other.fittedOnHalf * double(count);
    withStored += other.withStored * double(count);
  }
};
} // namespace

static Errors judgeGroup(llvm::ArrayRef<JudgedRow> rows, llvm::ArrayRef<Stack> stacks) {
  return {getError(rows, 1), getCrossError(rows), getError(rows, getStored(*rows.front().stack, stacks))};
}

static void printGroup(llvm::StringRef group, llvm::ArrayRef<JudgedRow> rows, const Errors &errors) {
  llvm::outs() << llvm::formatv("{0,-18} {1,4}  {2,6:f1} %  {3,12:f1} %  {4,11:f1} %  {5,11:f3}", group,
                                rows.size(), 100 * errors.asIs, 100 * errors.fittedOnHalf,
                                100 * errors.withStored, fitEfficiency(rows));
  OrderScore order = judgeOrder(rows);
  std::optional<double> memory = getMemoryError(rows);
  llvm::outs() << (memory ? llvm::formatv("   {0,4:f1} %", 100 * *memory).str() : std::string(9, ' '));
  if (order.pairs > 0)
    llvm::outs() << "   " << describe(order);
  llvm::outs() << "\n";
}

static void printGroups(llvm::StringRef title, const Groups &groups, llvm::ArrayRef<Stack> stacks) {
  llvm::outs() << llvm::formatv(
      "\n{0,-18} rows  as it is   fitted on half  stored factor   efficiency   memory   "
      "order of pairs   chosen plan behind\n",
      title);
  for (const auto &[group, rows] : groups)
    printGroup(group, rows, judgeGroup(rows, stacks));
}

static void printAll(const Groups &groups, llvm::ArrayRef<Stack> stacks) {
  Errors sums;
  size_t count = 0;
  std::vector<double> ratios;
  for (const auto &[group, rows] : groups) {
    sums.add(judgeGroup(rows, stacks), rows.size());
    count += rows.size();
    for (const JudgedRow &judged : rows)
      ratios.push_back(judged.getRatio());
  }
  llvm::outs() << llvm::formatv("{0,-18} {1,4}  {2,6:f1} %  {3,12:f1} %  {4,11:f1} %   median of predicted / "
                                "measured {5:f3}\n",
                                "all", count, 100 * sums.asIs / double(count),
                                100 * sums.fittedOnHalf / double(count),
                                100 * sums.withStored / double(count), getMedian(ratios));
}

void mlir::par::printSummary(llvm::ArrayRef<JudgedRow> rows, llvm::ArrayRef<Stack> stacks) {
  if (rows.empty())
    return;
  printGroups("stack", divide(rows, [](const JudgedRow &judged) { return judged.stack->name; }), stacks);
  Groups groups = divide(rows, [](const JudgedRow &judged) { return judged.row->group; });
  printGroups("group", groups, stacks);
  printAll(groups, stacks);
  printContradictions(groups);
  printGains(groups);
}
