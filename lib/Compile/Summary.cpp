//===- Summary.cpp - what par-compile prints of a plan --------------------------------------------------===//
#include "Summary.h"
#include "par/Emit/StepWork.h"
#include "par/Schedule/PrintSchedule.h"
#include "par/Support/Bytes.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <map>

using namespace mlir::par;

/// Exact, and as people read it.
static std::string describeBytes(int64_t bytes) {
  std::string exact = std::to_string(bytes) + " bytes";
  return bytes < 1024 ? exact : exact + " (" + formatBytes(bytes) + ")";
}

/// Kind and axes with bytes and calls per rank and step; with several stages, of the one that has most.
static void printTraffic(const llvm::json::Array &collectives, bool explain, bool hasStages,
                         llvm::raw_ostream &os) {
  std::map<std::string, std::map<int64_t, std::pair<int64_t, int64_t>>> rows; // by key and stage
  for (const llvm::json::Value &value : collectives) {
    const llvm::json::Object &entry = *value.getAsObject();
    std::string key = entry.getString("kind")->str() + " over";
    for (const llvm::json::Value &axis : *entry.getArray("axes"))
      key += " " + axis.getAsString()->str();
    if (explain && !entry.getString("cause")->empty())
      key += ": " + entry.getString("cause")->str();
    auto &[bytes, calls] = rows[key][entry.getInteger("stage").value_or(0)];
    bytes += *entry.getInteger("bytes");
    calls += *entry.getInteger("count");
  }
  for (auto &[key, stages] : rows) {
    auto most = std::max_element(stages.begin(), stages.end(),
                                 [](auto &a, auto &b) { return a.second.first < b.second.first; });
    os << describeBytes(most->second.first) << " in " << most->second.second << " calls per rank and step";
    if (hasStages)
      os << " of stage " << most->first;
    os << ": " << key << "\n";
  }
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

void mlir::par::printSummary(const llvm::json::Object &manifest, bool explain, llvm::raw_ostream &os) {
  const llvm::json::Array &memory = *manifest.getArray("memory");
  os << "ranks " << *manifest.getInteger("world_size") << ", batch " << *manifest.getInteger("batch")
     << " in " << *manifest.getInteger("micro_batches") << " micro-batches, seq "
     << *manifest.getInteger("seq") << "\n";
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
  printTraffic(*manifest.getArray("collectives"), explain, memory.size() > 1, os);
  printLaunches(manifest, os);
  if (const llvm::json::Array *programs = explain ? manifest.getArray("programs") : nullptr)
    for (const llvm::json::Value &program : *programs)
      printKernels(*program.getAsObject(), os);
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
