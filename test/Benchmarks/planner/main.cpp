//===- main.cpp - predicted and measured steps of published runs ----------------------------------------===//
// Prints a line for every row with what its seconds are spent on, and then how far predictions are off.
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
  std::string rows, stacks = PAR_STACKS, clusters = PAR_CLUSTERS, devices = PAR_DEVICES;
  std::vector<std::string> only;
  bool isDefault = false;
};
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
static std::vector<JudgedRow> judge(llvm::ArrayRef<Row> rows, llvm::ArrayRef<Stack> stacks,
                                    const Options &options, RowPredictor &predictor) {
  std::vector<JudgedRow> judged;
  for (const Row &row : rows) {
    if (!options.only.empty() && !llvm::is_contained(options.only, row.group))
      continue;
    std::string refusal = row.refusal;
    if (refusal.empty()) {
      const Stack &stack = findStack(stacks, options.isDefault ? "" : row.group);
      llvm::Expected<RowPrediction> prediction = predictor.predict(row, stack);
      if (prediction) {
        printRow(row, *prediction);
        judged.push_back({&row, &stack, *prediction});
        continue;
      }
      refusal = llvm::toString(prediction.takeError());
    }
    llvm::outs() << llvm::formatv("{0,-44} not expressed: {1}\n", row.id, refusal);
  }
  return judged;
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
  printSummary(judge(*rows, *stacks, options, predictor), *stacks);
}
