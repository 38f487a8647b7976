//===- main.cpp - predicted and measured steps of published runs ----------------------------------------===//
// Prints a line for every row with what its seconds are spent on, and then how far predictions are off.
#include "JudgeRows.h"
#include "mlir/IR/DialectRegistry.h"
#include "par/Register/Register.h"
#include "par/Support/Flags.h"
#include "par/Support/OneThread.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace mlir::par;

namespace {
struct Options {
  std::string rows, stacks = PAR_STACKS, clusters = PAR_CLUSTERS, devices = PAR_DEVICES;
  std::vector<std::string> only;
  bool isDefault = false;
};
using Groups = std::map<std::string, std::vector<JudgedRow>>;
} // namespace

static Flags describeFlags(Options &options) {
  Flags flags("planner-benchmark --rows FILE.json [flags]",
              "Predicts the step time of published training runs and compares it with what was measured.");
  flags.text("rows", "FILE.json", "the published runs", options.rows);
  flags.text("stacks", "FOLDER", "stack files (default: beside this program's source)", options.stacks);
  flags.text("clusters", "FOLDER", "cluster files (default: examples/clusters)", options.clusters);
  flags.text("devices", "FILE", "cluster files by devices of rows (default: beside this program's source)",
             options.devices);
  flags.list("only", "GROUP", "judges these groups of rows alone", options.only);
  flags.toggle("default-stack", "takes the default stack file for all rows", options.isDefault);
  return flags;
}

static void printRow(const Row &row, const RowPrediction &prediction) {
  llvm::outs() << llvm::formatv("{0,-44} {1,9:f3} s {2,9:f3} s  {3:f3} ", row.id, row.seconds,
                                prediction.seconds, prediction.seconds / row.seconds);
  TimeTerms::visit(
      [&](const char *name, double seconds) {
        if (seconds > 0.005 * prediction.seconds)
          llvm::outs() << llvm::formatv(" {0} {1:f1}", name, 100 * seconds / prediction.seconds);
      },
      prediction.terms);
  if (row.peakBytes > 0)
    llvm::outs() << llvm::formatv("  memory {0:f1} of {1:f1} GB", prediction.peakBytes / 1e9,
                                  row.peakBytes / 1e9);
  llvm::outs() << "\n";
  llvm::outs().flush();
}

/// Predicts all rows; says why one cannot be.
static Groups judge(llvm::ArrayRef<Row> rows, llvm::ArrayRef<Stack> stacks, const Options &options,
                    RowPredictor &predictor) {
  Groups groups;
  for (const Row &row : rows) {
    if (!options.only.empty() && !llvm::is_contained(options.only, row.group))
      continue;
    std::string refusal = row.refusal;
    if (refusal.empty()) {
      const Stack &stack = findStack(stacks, options.isDefault ? "" : row.group);
      llvm::Expected<RowPrediction> prediction = predictor.predict(row, stack);
      if (prediction) {
        printRow(row, *prediction);
        groups[row.group].push_back({&row, *prediction});
        continue;
      }
      refusal = llvm::toString(prediction.takeError());
    }
    llvm::outs() << llvm::formatv("{0,-44} not expressed: {1}\n", row.id, refusal);
  }
  return groups;
}

static double getMedian(std::vector<double> values) {
  llvm::sort(values);
  return values.empty() ? 1 : values[values.size() / 2];
}

/// Where a stack has no factor stored, the median of those that have.
static double getStored(const Stack &stack, llvm::ArrayRef<Stack> stacks) {
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
      llvm::outs() << llvm::formatv("{0,-10} without: {1}\n", group, describe(order));
  }
}

static void summarize(const Groups &groups, llvm::ArrayRef<Stack> stacks, const Options &options) {
  llvm::outs() << "\ngroup      rows  as it is   fitted on half  stored factor   efficiency   memory   "
                  "order of pairs   chosen plan behind\n";
  double sums[3] = {};
  size_t count = 0;
  std::vector<double> ratios;
  for (const auto &[group, rows] : groups) {
    const Stack &stack = findStack(stacks, options.isDefault ? "" : group);
    double errors[3] = {getError(rows, 1), getCrossError(rows), getError(rows, getStored(stack, stacks))};
    OrderScore order = judgeOrder(rows);
    llvm::outs() << llvm::formatv("{0,-10} {1,4}  {2,6:f1} %  {3,12:f1} %  {4,11:f1} %  {5,11:f3}", group,
                                  rows.size(), 100 * errors[0], 100 * errors[1], 100 * errors[2],
                                  fitEfficiency(rows));
    std::optional<double> memory = getMemoryError(rows);
    llvm::outs() << (memory ? llvm::formatv("   {0,4:f1} %", 100 * *memory).str() : std::string(9, ' '));
    if (order.pairs > 0)
      llvm::outs() << "   " << describe(order);
    llvm::outs() << "\n";
    count += rows.size();
    for (int kind : {0, 1, 2})
      sums[kind] += errors[kind] * double(rows.size());
    for (const JudgedRow &judged : rows)
      ratios.push_back(judged.getRatio());
  }
  if (count == 0)
    return;
  llvm::outs() << llvm::formatv(
      "all        {0,4}  {1,6:f1} %  {2,12:f1} %  {3,11:f1} %   median of predicted / "
      "measured {4:f3}\n",
      count, 100 * sums[0] / double(count), 100 * sums[1] / double(count), 100 * sums[2] / double(count),
      getMedian(ratios));
  printContradictions(groups);
}

static int fail(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

int main(int argc, char **argv) {
  Options options;
  Flags flags = describeFlags(options);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  llvm::Expected<std::vector<Row>> rows = readRows(options.rows);
  if (!rows)
    return fail(rows.takeError());
  llvm::Expected<std::vector<Stack>> stacks = readStacks(options.stacks);
  if (!stacks)
    return fail(stacks.takeError());
  llvm::Expected<std::vector<RowDevice>> devices = readDevices(options.devices);
  if (!devices)
    return fail(devices.takeError());
  DialectRegistry registry;
  registerDialects(registry);
  OneThreadContext context(registry);
  context.loadAllAvailableDialects();
  RowPredictor predictor(context, options.clusters, std::move(*devices));
  summarize(judge(*rows, *stacks, options, predictor), *stacks, options);
}
