//===- Summary.cpp - what par-compile prints of a plan --------------------------------------------------===//
#include "Summary.h"
#include "par/Emit/FoldedTraffic.h"
#include "par/Emit/StepWork.h"
#include "par/Schedule/PrintSchedule.h"
#include "par/Support/Bytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mlir::par;

/// Per rank and step; with several stages, of the one that has most.
static void printTraffic(const llvm::json::Array &collectives, bool hasStages, llvm::raw_ostream &os) {
  std::vector<TrafficRow> rows = takeLargestStages(foldTraffic(collectives, /*causes=*/false));
  llvm::sort(rows, [](const TrafficRow &a, const TrafficRow &b) { return a.describe() < b.describe(); });
  for (const TrafficRow &row : rows) {
    os << describeBytes(row.bytes) << " in " << row.calls << " calls per rank and step";
    if (hasStages)
      os << " of stage " << row.stage;
    os << ": " << row.describe() << "\n";
  }
}

/// The same by cause, as a table: most bytes first, layers that send the same in one row.
static void printCauses(const llvm::json::Array &collectives, bool hasStages, llvm::raw_ostream &os) {
  std::vector<TrafficRow> rows = takeLargestStages(foldTraffic(collectives, /*causes=*/true));
  if (rows.empty())
    return;
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

static void printMemory(const llvm::json::Object &memory, llvm::raw_ostream &os) {
  os << describeBytes(*memory.getInteger("peak_bytes")) << ":";
  for (auto &[category, bytes] : *memory.getObject("arena_bytes"))
    os << " " << llvm::StringRef(category) << " " << *bytes.getAsInteger() << " ("
       << formatBytes(*bytes.getAsInteger()) << ")";
  os << "\n";
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

void mlir::par::printSummary(const llvm::json::Object &manifest, bool explain, llvm::raw_ostream &os) {
  const llvm::json::Array &memory = *manifest.getArray("memory");
  os << "ranks " << *manifest.getInteger("world_size") << ", batch " << *manifest.getInteger("batch")
     << " in " << *manifest.getInteger("micro_batches") << " micro-batches";
  if (int64_t seq = *manifest.getInteger("seq"))
    os << ", seq " << seq;
  os << "\n";
  const llvm::json::Object &model = *manifest.getObject("model");
  if (auto frozen = model.getInteger("frozen_parameters"))
    os << "frozen " << *frozen << " of " << *model.getInteger("parameters") << " parameters\n";
  int64_t onHost = 0;
  for (const llvm::json::Value &stage : memory) {
    os << "peak memory per rank ";
    if (memory.size() > 1)
      os << "of stage " << *stage.getAsObject()->getInteger("program") << " ";
    printMemory(*stage.getAsObject(), os);
    onHost = std::max(onHost, *stage.getAsObject()->getInteger("host_peak_bytes"));
  }
  if (onHost)
    os << "host memory per rank " << describeBytes(onHost) << "\n";
  printTraffic(*manifest.getArray("collectives"), memory.size() > 1, os);
  if (explain)
    printCauses(*manifest.getArray("collectives"), memory.size() > 1, os);
  printLaunches(manifest, os);
  if (const llvm::json::Array *programs = explain ? manifest.getArray("programs") : nullptr)
    for (const llvm::json::Value &program : *programs) {
      printKernels(*program.getAsObject(), os);
      printAttentions(*program.getAsObject(), os);
    }
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
