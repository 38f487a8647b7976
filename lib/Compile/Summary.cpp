//===- Summary.cpp - what par-compile prints of a plan --------------------------------------------------===//
#include "Summary.h"
#include "par/Support/Bytes.h"
#include <map>

using namespace mlir::par;

/// Exact, and as people read it.
static std::string describeBytes(int64_t bytes) {
  std::string exact = std::to_string(bytes) + " bytes";
  return bytes < 1024 ? exact : exact + " (" + formatBytes(bytes) + ")";
}

/// Kind and axes with bytes and calls per rank and step.
static void printTraffic(const llvm::json::Array &collectives, bool explain, llvm::raw_ostream &os) {
  std::map<std::string, std::pair<int64_t, int64_t>> rows;
  for (const llvm::json::Value &value : collectives) {
    const llvm::json::Object &entry = *value.getAsObject();
    std::string key = entry.getString("kind")->str() + " over";
    for (const llvm::json::Value &axis : *entry.getArray("axes"))
      key += " " + axis.getAsString()->str();
    if (explain && !entry.getString("cause")->empty())
      key += ": " + entry.getString("cause")->str();
    rows[key].first += *entry.getInteger("bytes");
    rows[key].second += *entry.getInteger("count");
  }
  for (auto &[key, row] : rows)
    os << describeBytes(row.first) << " in " << row.second << " calls per rank and step: " << key << "\n";
}

void mlir::par::printSummary(const llvm::json::Object &manifest, bool explain, llvm::raw_ostream &os) {
  const llvm::json::Object &memory = *(*manifest.getArray("memory"))[0].getAsObject();
  os << "ranks " << *manifest.getInteger("world_size") << ", batch " << *manifest.getInteger("batch")
     << " in " << *manifest.getInteger("micro_batches") << " micro-batches, seq "
     << *manifest.getInteger("seq") << "\n"
     << "peak memory per rank " << describeBytes(*memory.getInteger("peak_bytes")) << ":";
  for (auto &[category, bytes] : *memory.getObject("arena_bytes"))
    os << " " << llvm::StringRef(category) << " " << *bytes.getAsInteger() << " ("
       << formatBytes(*bytes.getAsInteger()) << ")";
  os << "\n";
  if (int64_t bytes = *memory.getInteger("host_peak_bytes"))
    os << "host memory per rank " << describeBytes(bytes) << "\n";
  printTraffic(*manifest.getArray("collectives"), explain, os);
}
