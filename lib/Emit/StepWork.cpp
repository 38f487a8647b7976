//===- StepWork.cpp - what the kernels and library calls of a step come to ------------------------------===//
#include "par/Emit/StepWork.h"
#include "par/Emit/Page.h"
#include "par/Emit/StageKinds.h"
#include "par/Support/TextTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::par;
using llvm::StringRef;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kNames[] = {"kernel", "product", "attention"};

StringRef mlir::par::getName(WorkKind kind) { return kNames[static_cast<size_t>(kind)]; }

static constexpr std::pair<WorkKind, llvm::StringLiteral> kKinds[] = {
    {WorkKind::Kernel, "kernels"}, {WorkKind::Product, "products"}, {WorkKind::Attention, "attention"}};

static int64_t readStage(const json::Object &entry) { return entry.getInteger("stage").value_or(0); }

/// What a rank of each stage runs in a step.
static std::vector<std::vector<const json::Object *>> listWork(const json::Object &manifest) {
  std::vector<std::vector<const json::Object *>> stages(manifest.getArray("memory")->size());
  for (const json::Value &value : *manifest.getArray("step_work"))
    stages[static_cast<size_t>(readStage(*value.getAsObject()))].push_back(value.getAsObject());
  return stages;
}

using Work = llvm::ArrayRef<const json::Object *>;

static bool areAlike(Work one, Work other) {
  return one.size() == other.size() && llvm::all_of(llvm::zip(one, other), [](auto pair) {
           json::Object first = *std::get<0>(pair), second = *std::get<1>(pair);
           first.erase("stage"), second.erase("stage");
           return first == second;
         });
}

namespace {
struct WorkSum {
  int64_t calls = 0, launches = 0;
  double bytes = 0; ///< of buffers, each read or written as a whole
};

/// Stages that run the same, and what that is.
struct WorkOfStages {
  StageKind kind;
  Work work;

  WorkSum sum(WorkKind of) const {
    WorkSum sum;
    for (const json::Object *entry : work) {
      if (entry->getString("kind") != getName(of))
        continue;
      sum.calls += *entry->getInteger("calls");
      sum.launches += entry->getInteger("launches").value_or(0);
      sum.bytes += *entry->getNumber("bytes");
    }
    return sum;
  }
};
} // namespace

static std::vector<WorkOfStages> groupWork(llvm::ArrayRef<std::vector<const json::Object *>> stages) {
  std::vector<WorkOfStages> groups;
  for (StageKind &kind : groupStages(static_cast<int64_t>(stages.size()), [&](int64_t one, int64_t other) {
         return areAlike(stages[size_t(one)], stages[size_t(other)]);
       }))
    groups.push_back({kind, stages[size_t(kind.stages.front())]});
  return groups;
}

void mlir::par::printLaunches(const json::Object &manifest, llvm::raw_ostream &os) {
  std::vector<std::vector<const json::Object *>> stages = listWork(manifest);
  TextTable table;
  table.addRow() = {"launches per rank and step"};
  for (auto [kind, name] : kKinds)
    llvm::append_range(table.last(), std::vector<std::string>{name.str(), "GB"});
  bool hasLaunches = false;
  for (const WorkOfStages &group : groupWork(stages)) {
    table.addRow() = {stages.size() > 1 ? "stage " + group.kind.print() : ""};
    for (auto [kind, name] : kKinds) {
      WorkSum sum = group.sum(kind);
      hasLaunches |= sum.launches > 0;
      table.last().push_back(std::to_string(sum.launches));
      table.last().push_back(llvm::formatv("{0:F2}", sum.bytes / 1e9));
    }
  }
  if (hasLaunches)
    table.print(os << "\n");
}

static void writeSums(const WorkOfStages &group, bool hasStages, llvm::raw_ostream &page) {
  page << "<p>" << (hasStages ? "Stage " + group.kind.print() + ": " : "");
  for (auto [kind, name] : kKinds) {
    WorkSum sum = group.sum(kind);
    page << (kind == WorkKind::Kernel ? "" : "; ") << name << ": " << sum.calls << " calls, ";
    if (sum.launches)
      page << sum.launches << " launches, ";
    page << llvm::formatv("{0:F2} GB", sum.bytes / 1e9);
  }
  page << ". Every buffer of a call is read or written as a whole.</p>\n";
}

static void writeRow(const json::Object &entry, llvm::raw_ostream &page) {
  page << "<td>" << escapeHtml(*entry.getString("class")) << "</td><td class=\"n\">"
       << *entry.getInteger("calls") << "</td><td class=\"n\">";
  if (auto launches = entry.getInteger("launches"))
    page << *launches;
  page << llvm::formatv("</td><td class=\"n\">{0:F3}</td><td class=\"n\">{1:F3}</td></tr>\n",
                        *entry.getNumber("bytes") / 1e9, *entry.getNumber("flops") / 1e12);
}

void mlir::par::writeStepWork(const json::Object &manifest, llvm::raw_ostream &page) {
  std::vector<std::vector<const json::Object *>> stages = listWork(manifest);
  std::vector<WorkOfStages> groups = groupWork(stages);
  bool hasStages = stages.size() > 1;
  page << "<h2>Kernels and library calls of a rank's step</h2>\n";
  for (const WorkOfStages &group : groups)
    writeSums(group, hasStages, page);
  page << "<table><tr>" << (hasStages ? "<th>stage</th>" : "")
       << "<th>class</th><th class=\"n\">calls</th><th class=\"n\">launches</th><th class=\"n\">GB</th>"
          "<th class=\"n\">TFLOP</th></tr>\n";
  for (const WorkOfStages &group : groups)
    for (const json::Object *entry : group.work) {
      page << "<tr>";
      if (hasStages)
        page << "<td>" << group.kind.print() << "</td>";
      writeRow(*entry, page);
    }
  page << "</table>\n";
}
