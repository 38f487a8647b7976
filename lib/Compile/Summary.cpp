//===- Summary.cpp - what par-compile prints of a plan --------------------------------------------------===//
#include "Summary.h"
#include "par/Cost/StepSpeed.h"
#include "par/Dialect/Rank/Analysis/Liveness.h"
#include "par/Emit/FoldedTraffic.h"
#include "par/Emit/StageKinds.h"
#include "par/Emit/StepWork.h"
#include "par/Schedule/PrintSchedule.h"
#include "par/Support/Bytes.h"
#include "par/Support/Seconds.h"
#include "par/Support/TextTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mlir::par;

namespace {
/// A summary writes sizes exactly, or as people read them.
class SizeText {
public:
  /// `most`: of a table that has one unit.
  explicit SizeText(bool isExact, int64_t most = 0) : isExact(isExact) {
    if (!isExact)
      unit = findByteUnit(most);
  }

  llvm::StringRef getUnit() const { return unit.name; }
  /// Alone.
  std::string print(int64_t bytes) const { return isExact ? std::to_string(bytes) : formatBytes(bytes); }
  /// Prints a size in the unit; nothing looks different from little.
  std::string printInUnit(int64_t bytes) const {
    if (!bytes || unit.bytes == 1)
      return std::to_string(bytes);
    return llvm::formatv("{0:F2}", static_cast<double>(bytes) / static_cast<double>(unit.bytes));
  }

private:
  bool isExact;
  ByteUnit unit = findByteUnit(0);
};
} // namespace

/// Headings of categories, in their order: with them a table has less than 80 columns.
static constexpr llvm::StringLiteral kCategories[] = {"params",      "grads", "optimizer",
                                                      "activations", "comm",  "workspace"};
static_assert(std::size(kCategories) == rank::kCategories);

/// Prints what a rank holds at its peak, a row for each kind of stage.
static void printMemory(const llvm::json::Array &memory, bool isExact, llvm::raw_ostream &os) {
  auto get = [&](int64_t stage, llvm::StringRef key) {
    return *memory[static_cast<size_t>(stage)].getAsObject()->getInteger(key);
  };
  int64_t peak = 0, onHost = 0;
  for (size_t stage = 0; stage < memory.size(); ++stage) {
    onHost = std::max(onHost, get(int64_t(stage), "host_peak_bytes"));
    peak = std::max(peak, get(int64_t(stage), "peak_bytes"));
  }
  SizeText sizes(isExact, std::max(peak, onHost));
  os << "\npeak memory per rank, " << sizes.getUnit();
  if (!isExact)
    os << "; at most " << peak << " bytes";
  os << "\n";
  TextTable table;
  std::vector<std::string> &head = table.addRow();
  head = {memory.size() > 1 ? "stage" : "", "peak"};
  head.insert(head.end(), std::begin(kCategories), std::end(kCategories));
  if (onHost)
    head.push_back("host");
  for (const StageKind &kind : findMemoryKinds(memory)) {
    int64_t stage = kind.stages.front();
    std::vector<std::string> &row = table.addRow();
    row = {memory.size() > 1 ? kind.print() : "", sizes.printInUnit(get(stage, "peak_bytes"))};
    const llvm::json::Object &bytes = *memory[size_t(stage)].getAsObject()->getObject("arena_bytes");
    for (uint32_t category = 0; category < rank::kCategories; ++category)
      row.push_back(sizes.printInUnit(
          bytes.getInteger(stringifyCategory(static_cast<rank::Category>(category))).value_or(0)));
    if (onHost)
      row.push_back(sizes.printInUnit(get(stage, "host_peak_bytes")));
  }
  table.print(os);
}

/// Per rank and step; with several stages, of the one that has most.
static void printTraffic(const llvm::json::Array &collectives, bool hasStages, bool isExact,
                         llvm::raw_ostream &os) {
  std::vector<TrafficRow> rows = takeLargestStages(foldTraffic(collectives, /*causes=*/false));
  if (rows.empty())
    return;
  llvm::sort(rows, [](const TrafficRow &a, const TrafficRow &b) { return a.describe() < b.describe(); });
  TextTable table;
  table.addRow() = {"sent per rank and step", isExact ? "bytes" : "size", "calls"};
  if (hasStages)
    table.last().push_back("most in stage");
  for (const TrafficRow &row : rows) {
    table.addRow() = {row.describe(), SizeText(isExact).print(row.bytes), std::to_string(row.calls)};
    if (hasStages)
      table.last().push_back(std::to_string(row.stage));
  }
  os << "\n";
  table.print(os);
}

/// The same by cause, as a table: most bytes first, layers that send the same in one row.
static void printCauses(const llvm::json::Array &collectives, bool hasStages, llvm::raw_ostream &os) {
  std::vector<TrafficRow> rows = takeLargestStages(foldTraffic(collectives, /*causes=*/true));
  if (rows.empty())
    return;
  os << "\n";
  auto print = [&](auto bytes, auto size, auto calls, auto layers, auto stage, llvm::StringRef what) {
    os << llvm::formatv("{0,15}{1,12}{2,8}{3,8}", bytes, size, calls, layers);
    if (hasStages)
      os << llvm::formatv("{0,7}", stage);
    os << "  " << what << "\n";
  };
  print("bytes", "size", "calls", "layers", "stage", "sent per rank and step, and why");
  for (const TrafficRow &row : rows)
    print(row.bytes, formatBytes(row.bytes), row.calls, row.layers ? std::to_string(row.layers) : "",
          row.stage, row.describe() + (row.cause.empty() ? "" : ": " + row.cause));
}

/// Kernels of a device, how its threads share them, and the bytes of their buffers.
static void printKernels(const llvm::json::Object &program, llvm::raw_ostream &os) {
  const llvm::json::Array *kernels = program.getArray("kernels");
  for (const llvm::json::Value &value : kernels ? *kernels : llvm::json::Array()) {
    const llvm::json::Object &kernel = *value.getAsObject();
    int64_t bytes = 0;
    for (const llvm::json::Value &buffer : *kernel.getArray("buffers"))
      bytes += *buffer.getAsObject()->getInteger("bytes");
    os << *kernel.getString("name") << ": " << *kernel.getString("plan");
    if (auto reason = kernel.getString("reason"))
      os << " (" << *reason << ")";
    os << ", " << *kernel.getArray("grid")->front().getAsInteger() << " blocks of "
       << *kernel.getArray("block")->front().getAsInteger() << " threads, " << describeBytes(bytes) << "\n";
  }
}

/// Attention that a library may compute instead of its kernels.
static void printAttentions(const llvm::json::Object &program, llvm::raw_ostream &os) {
  const llvm::json::Array *attentions = program.getArray("attentions");
  for (const llvm::json::Value &value : attentions ? *attentions : llvm::json::Array()) {
    const llvm::json::Object &attention = *value.getAsObject();
    os << *attention.getString("name") << ": by cuDNN where there is one, workspace "
       << describeBytes(*attention.getInteger("workspace_bytes")) << "\n";
  }
}

/// Prints what is sent by cause, and the launches and kernels of a device.
static void printDetails(const llvm::json::Object &manifest, bool hasStages, llvm::raw_ostream &os) {
  printCauses(*manifest.getArray("collectives"), hasStages, os);
  printLaunches(manifest, os);
  if (const llvm::json::Array *programs = manifest.getArray("programs"))
    for (const llvm::json::Value &program : *programs) {
      printKernels(*program.getAsObject(), os);
      printAttentions(*program.getAsObject(), os);
    }
}

/// Prints which phases were judged, or why none was.
static void printProof(const llvm::json::Object &proof, llvm::raw_ostream &os) {
  std::string phases;
  for (const llvm::json::Value &phase : *proof.getArray("phases"))
    phases += (phases.empty() ? "" : ", ") + phase.getAsString()->str();
  if (phases.empty())
    os << "\nnot proved: " << *proof.getString("why") << "\n";
  else
    os << "\nproved equal to one device for all inputs: " << phases << "\n";
}

void mlir::par::printSummary(const llvm::json::Object &manifest, llvm::StringRef forecast, bool explain,
                             llvm::raw_ostream &os) {
  const llvm::json::Array &memory = *manifest.getArray("memory");
  const llvm::json::Array &collectives = *manifest.getArray("collectives");
  bool hasStages = memory.size() > 1;
  os << "ranks " << *manifest.getInteger("world_size") << ", batch " << *manifest.getInteger("batch")
     << " in " << *manifest.getInteger("micro_batches") << " micro-batches";
  if (int64_t seq = *manifest.getInteger("seq"))
    os << ", seq " << seq;
  os << "\n";
  const llvm::json::Object &model = *manifest.getObject("model");
  if (auto frozen = model.getInteger("frozen_parameters"))
    os << "frozen " << *frozen << " of " << *model.getInteger("parameters") << " parameters\n";
  os << forecast;
  printMemory(memory, explain, os);
  printTraffic(collectives, hasStages, explain, os);
  if (explain)
    printDetails(manifest, hasStages, os);
  printProof(*manifest.getObject("proof"), os);
}

std::string mlir::par::describeForecast(const llvm::json::Object &manifest, const PredictedStep &step,
                                        const Plan &plan, const Cluster &cluster) {
  double flops = manifest.getNumber("model_flops_per_step").value_or(0);
  StepSpeed speed = getSpeed(plan, step.timeline.end, flops, cluster);
  std::string text = llvm::formatv("predicted for {0}\n  {1} a step, {2:F0} {3}/s", cluster.name,
                                   formatSeconds(step.timeline.end), speed.unitsPerSecond, getUnit(plan));
  if (flops > 0)
    text += llvm::formatv(", mfu {0:F1} %", 100 * speed.mfu);
  if (plan.countStages() > 1)
    text += llvm::formatv(", bubble {0:F1} %", 100 * getIdleOfTotal(step.timeline));
  int64_t peak = 0, usable = static_cast<int64_t>(getUsableBytes(plan, cluster));
  for (const llvm::json::Value &stage : *manifest.getArray("memory"))
    peak = std::max(peak, *stage.getAsObject()->getInteger("peak_bytes"));
  text += "\n  the fullest rank takes " + formatBytes(peak) + " of " + formatBytes(usable);
  if (peak > usable)
    text += ": " + formatBytes(peak - usable) + " missing";
  return text + "\n";
}

void mlir::par::printStep(const PredictedStep &step, llvm::raw_ostream &os) {
  constexpr size_t columns = 120;
  const Timeline &timeline = step.timeline;
  const char *unit = timeline.end < 0.1 ? "us" : "ms";
  double scale = timeline.end < 0.1 ? 1e6 : 1e3;
  os << llvm::formatv(
      "step: {0:f3} {1} by the cost model, of which a stage works {2:f3} {1}; bubble {3:f1} %\n",
      timeline.end * scale, unit, timeline.work * scale, 100 * getIdleOfTotal(timeline));
  if (step.lists.stages.size() > 1)
    printGantt(step.lists, timeline, os, columns);
}
