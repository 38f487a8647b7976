//===- main.cpp - predicted and measured steps of published runs ----------------------------------------===//
// Prints a line for every row with what its seconds are spent on, and then how far predictions are off.
#include "FirstPredictions.h"
#include "PrintBlind.h"
#include "PrintSummary.h"
#include "mlir/IR/DialectRegistry.h"
#include "par/Register/Register.h"
#include "par/Support/Flags.h"
#include "par/Support/OneThread.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::par;

namespace {
struct Options {
  std::vector<std::string> rows;
  std::string stacks = PAR_STACKS, clusters = PAR_CLUSTERS, devices = PAR_DEVICES;
  std::string first = PAR_ROWS "/first.json";
  std::vector<std::string> only;
  bool isDefault = false, isRecorded = false;
};
} // namespace

static Flags describeFlags(Options &options) {
  Flags flags("planner-benchmark [flags]",
              "Predicts the step time of published training runs and compares it with what was measured.");
  flags.list("rows", "FILE.json", "published runs (default: those beside this program's source)",
             options.rows);
  flags.text("first", "FILE.json", "what blind rows were predicted to take at first (default: as --rows)",
             options.first);
  flags.toggle("recorded",
               "judges what was predicted at first, and predicts nothing; fails where par-plan "
               "claims something else",
               options.isRecorded);
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

/// Predicts one row, or says why it cannot be.
static std::optional<RowPrediction> predict(const Row &row, const Stack &stack, RowPredictor &predictor) {
  std::string refusal = row.refusal;
  if (refusal.empty()) {
    llvm::Expected<RowPrediction> prediction = predictor.predict(row, stack);
    if (prediction) {
      printRow(row, *prediction);
      return *prediction;
    }
    refusal = llvm::toString(prediction.takeError());
  }
  llvm::outs() << llvm::formatv("{0,-44} not expressed: {1}\n", row.id, refusal);
  return std::nullopt;
}

namespace {
/// Rows that have been looked at, and those that were not when they were first predicted.
struct Judgement {
  std::vector<JudgedRow> seen;
  BlindRows blind;
};
} // namespace

static JudgedRow makeJudged(const Row &row, const Stack &stack, double seconds) {
  RowPrediction prediction;
  prediction.seconds = seconds;
  return {&row, &stack, prediction};
}

static Judgement judge(llvm::ArrayRef<Row> rows, llvm::ArrayRef<Stack> stacks, const Options &options,
                       const llvm::StringMap<FirstPrediction> &first, RowPredictor &predictor) {
  Judgement judgement;
  for (const Row &row : rows) {
    auto known = first.find(row.id);
    bool isBlind = known != first.end();
    if ((!options.only.empty() && !llvm::is_contained(options.only, row.group)) ||
        (options.isRecorded && !isBlind))
      continue;
    const Stack &stack = findStack(stacks, options.isDefault ? "" : row.group);
    if (isBlind) {
      judgement.blind.withStack.push_back(makeJudged(row, stack, known->second.withStack));
      judgement.blind.withoutStack.push_back(makeJudged(row, stack, known->second.withoutStack));
    }
    if (options.isRecorded)
      continue;
    if (std::optional<RowPrediction> prediction = predict(row, stack, predictor))
      (isBlind ? judgement.blind.now : judgement.seen).push_back({&row, &stack, *prediction});
  }
  return judgement;
}

static int fail(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

static llvm::Expected<std::vector<Row>> readAllRows(const Options &options) {
  std::vector<std::string> files = options.rows;
  if (files.empty())
    files = {PAR_ROWS "/published.json", PAR_ROWS "/further.json"};
  std::vector<Row> all;
  for (const std::string &file : files) {
    llvm::Expected<std::vector<Row>> rows = readRows(file);
    if (!rows)
      return rows.takeError();
    llvm::append_range(all, *rows);
  }
  return all;
}

int main(int argc, char **argv) {
  Options options;
  Flags flags = describeFlags(options);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  llvm::Expected<std::vector<Row>> rows = readAllRows(options);
  if (!rows)
    return fail(rows.takeError());
  llvm::Expected<llvm::StringMap<FirstPrediction>> first = readFirstPredictions(options.first);
  if (!first)
    return fail(first.takeError());
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
  Judgement judgement = judge(*rows, *stacks, options, *first, predictor);
  printSummary(judgement.seen, *stacks);
  printBlind(judgement.blind, *stacks);
  return options.isRecorded && !checkClaims(judgement.blind) ? 1 : 0;
}
