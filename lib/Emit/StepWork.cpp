//===- StepWork.cpp - what the kernels and library calls of a step come to ------------------------------===//
#include "par/Emit/StepWork.h"
#include "par/Emit/Page.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::par;
using llvm::StringRef;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kNames[] = {"kernel", "product", "attention"};

StringRef mlir::par::getName(WorkKind kind) { return kNames[static_cast<size_t>(kind)]; }

static constexpr std::pair<WorkKind, llvm::StringLiteral> kKinds[] = {
    {WorkKind::Kernel, "kernels"}, {WorkKind::Product, "products"}, {WorkKind::Attention, "attention"}};

static int64_t readStage(const json::Object &entry) { return entry.getInteger("stage").value_or(0); }

static int64_t countStages(const json::Object &manifest) {
  return static_cast<int64_t>(manifest.getArray("memory")->size());
}

namespace {
struct WorkSum {
  int64_t calls = 0, launches = 0;
  double bytes = 0; ///< of buffers, each read or written as a whole
};
} // namespace

/// Of a step of a rank in a stage of the pipeline.
static WorkSum sumWork(const json::Object &manifest, WorkKind kind, int64_t stage) {
  WorkSum sum;
  for (const json::Value &value : *manifest.getArray("step_work")) {
    const json::Object &entry = *value.getAsObject();
    if (readStage(entry) != stage || entry.getString("kind") != getName(kind))
      continue;
    sum.calls += *entry.getInteger("calls");
    sum.launches += entry.getInteger("launches").value_or(0);
    sum.bytes += *entry.getNumber("bytes");
  }
  return sum;
}

void mlir::par::printLaunches(const json::Object &manifest, llvm::raw_ostream &os) {
  for (int64_t stage = 0; stage < countStages(manifest); ++stage)
    for (auto [kind, name] : kKinds) {
      WorkSum sum = sumWork(manifest, kind, stage);
      if (!sum.launches)
        continue;
      os << sum.launches << " launches of " << name << " per rank and step";
      if (countStages(manifest) > 1)
        os << " of stage " << stage;
      os << llvm::formatv(", {0:F2} GB\n", sum.bytes / 1e9);
    }
}

static void writeSums(const json::Object &manifest, int64_t stage, llvm::raw_ostream &page) {
  page << "<p>" << (countStages(manifest) > 1 ? "Stage " + std::to_string(stage) + ": " : "");
  for (auto [kind, name] : kKinds) {
    WorkSum sum = sumWork(manifest, kind, stage);
    page << (kind == WorkKind::Kernel ? "" : "; ") << name << ": " << sum.calls << " calls, ";
    if (sum.launches)
      page << sum.launches << " launches, ";
    page << llvm::formatv("{0:F2} GB", sum.bytes / 1e9);
  }
  page << ". Every buffer of a call is read or written as a whole.</p>\n";
}

void mlir::par::writeStepWork(const json::Object &manifest, llvm::raw_ostream &page) {
  bool hasStages = countStages(manifest) > 1;
  page << "<h2>Kernels and library calls of a rank's step</h2>\n";
  for (int64_t stage = 0; stage < countStages(manifest); ++stage)
    writeSums(manifest, stage, page);
  page << "<table><tr>" << (hasStages ? "<th>stage</th>" : "")
       << "<th>class</th><th class=\"n\">calls</th><th class=\"n\">launches</th><th class=\"n\">GB</th>"
          "<th class=\"n\">TFLOP</th></tr>\n";
  for (const json::Value &value : *manifest.getArray("step_work")) {
    const json::Object &entry = *value.getAsObject();
    page << "<tr>";
    if (hasStages)
      page << "<td>" << readStage(entry) << "</td>";
    page << "<td>" << escapeHtml(*entry.getString("class")) << "</td><td class=\"n\">"
         << *entry.getInteger("calls") << "</td><td class=\"n\">";
    if (auto launches = entry.getInteger("launches"))
      page << *launches;
    page << llvm::formatv("</td><td class=\"n\">{0:F3}</td><td class=\"n\">{1:F3}</td></tr>\n",
                          *entry.getNumber("bytes") / 1e9, *entry.getNumber("flops") / 1e12);
  }
  page << "</table>\n";
}
