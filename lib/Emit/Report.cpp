//===- Report.cpp - a page about a compiled step --------------------------------------------------------===//
#include "par/Emit/Report.h"
#include "MemoryPicture.h"
#include "par/Emit/FoldedMemory.h"
#include "par/Emit/FoldedTraffic.h"
#include "par/Emit/Page.h"
#include "par/Emit/StageKinds.h"
#include "par/Emit/StagePicture.h"
#include "par/Emit/StepWork.h"
#include "par/Schedule/PrintSchedule.h"
#include "par/Support/Bytes.h"
#include "par/Support/Seconds.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

namespace {
class ReportWriter {
public:
  explicit ReportWriter(const ReportFacts &facts)
      : facts(facts), manifest(facts.manifest), kinds(findMemoryKinds(*manifest.getArray("memory"))),
        room(findRoom(facts)), page(text) {
    auto isLess = [](const MemoryProfile &one, const MemoryProfile &other) {
      return one.peakBytes < other.peakBytes;
    };
    fullest = static_cast<int64_t>(llvm::max_element(facts.stages, isLess) - facts.stages.begin());
  }

  std::string run() {
    beginPage(page, "time and memory of a step");
    writeHead();
    writeFigures();
    page << drawStages(facts.step, facts.stages, room);
    writeMemory();
    writeStepWork(manifest, page);
    writeCollectives();
    writePlan();
    endPage(page);
    return page.str();
  }

private:
  bool isPipeline() const { return facts.stages.size() > 1; }
  const MemoryProfile &getProfile(int64_t stage) const { return facts.stages[static_cast<size_t>(stage)]; }
  int64_t getNumber(StringRef key) const { return *manifest.getInteger(key); }

  /// Bytes that a rank may take, by a flag and by the cluster's devices; 0: nobody knows.
  static int64_t findRoom(const ReportFacts &facts) {
    if (!facts.cluster)
      return facts.limit;
    int64_t usable = static_cast<int64_t>(getUsableBytes(facts.plan, *facts.cluster));
    return facts.limit ? std::min(facts.limit, usable) : usable;
  }

  //===--------------------------------------------------------------------===//
  // What is read first
  //===--------------------------------------------------------------------===//

  std::string printRanks() const {
    if (getNumber("world_size") == 1)
      return "one rank";
    std::string mesh;
    for (auto &[axis, size] : facts.plan.mesh)
      mesh += (mesh.empty() ? "" : ", ") + axis + "=" + std::to_string(size);
    return groupDigits(getNumber("world_size")) + " ranks (" + mesh + ")";
  }

  void writeHead() {
    const json::Object &model = *manifest.getObject("model");
    page << "<h1>" << escapeHtml(model.getString("model_type").value_or("graph")) << ", "
         << groupDigits(model.getInteger("parameters").value_or(0)) << " parameters</h1>\n<p>" << printRanks()
         << ", batch " << groupDigits(getNumber("batch")) << " in " << getNumber("micro_batches")
         << " micro-batches, ";
    if (int64_t seq = getNumber("seq"))
      page << "seq " << groupDigits(seq) << ", ";
    page << *manifest.getString("dtype");
    if (isPipeline())
      page << ", " << getName(facts.plan.schedule);
    page << ". Times are predicted by the cost model for "
         << (facts.cluster ? escapeHtml(facts.cluster->name)
                           : "the bare rates of the target; --cluster predicts for a machine")
         << ".</p>\n";
  }

  void writeFigure(const llvm::Twine &value, const llvm::Twine &meaning, StringRef style = "") {
    page << "<div" << (style.empty() ? "" : " class=\"" + style.str() + "\"") << "><b>" << value
         << "</b><span>" << meaning << "</span></div>\n";
  }

  void writeFigures() {
    const Timeline &timeline = facts.step.timeline;
    page << "<div class=\"figures\">\n";
    writeFigure(formatSeconds(timeline.end), "a step");
    double flops = manifest.getNumber("model_flops_per_step").value_or(0);
    if (facts.cluster) {
      StepSpeed speed = getSpeed(facts.plan, timeline.end, flops, *facts.cluster);
      writeFigure(groupDigits(std::llround(speed.unitsPerSecond)),
                  llvm::Twine(getUnit(facts.plan)) + " per second");
      if (flops > 0)
        writeFigure(printPercent(speed.mfu), "MFU: of the devices' peak");
    }
    if (isPipeline())
      writeFigure(printPercent(getIdleOfTotal(timeline)), "bubble: time that stages wait");
    writeFullest();
    page << "</div>\n";
  }

  void writeFullest() {
    int64_t peak = getProfile(fullest).peakBytes;
    std::string where =
        isPipeline() ? "the fullest rank, of stage " + std::to_string(fullest) : "a rank's memory";
    if (!room)
      return writeFigure(formatBytes(peak), where);
    if (peak <= room)
      return writeFigure(formatBytes(peak), "of " + formatBytes(room) + ": " + where);
    writeFigure(formatBytes(peak - room) + " missing",
                formatBytes(peak) + " of " + formatBytes(room) + ": " + where, "missing");
  }

  static std::string printPercent(double share) { return llvm::formatv("{0:F1} %", 100 * share).str(); }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  static void writeCategories(llvm::raw_ostream &page) {
    std::vector<LegendEntry> entries;
    for (unsigned category = 0; category < rank::kCategories; ++category) {
      StringRef name = rank::stringifyCategory(static_cast<rank::Category>(category));
      entries.push_back({name, name});
    }
    writeLegend(entries, page);
  }

  /// Stages that hold the same are drawn once; the fullest is seen at once, others unfold.
  void writeMemory() {
    page << "<h2>Memory of a rank</h2>\n";
    writeCategories(page);
    for (const StageKind &kind : kinds) {
      int64_t stage = kind.stages.front();
      if (isPipeline())
        page << "<details" << (llvm::is_contained(kind.stages, fullest) ? " open=\"open\"" : "")
             << "><summary>Stage" << (kind.stages.size() > 1 ? "s " : " ") << kind.print() << ": "
             << formatBytes(getProfile(stage).peakBytes) << "</summary>\n";
      writeSizes(stage);
      if (kind.stages.size() > 1)
        page << "<p>These stages hold as much of every category. Drawn is stage " << stage << ".</p>\n";
      drawMemory(getProfile(stage), facts.step.timeline.stages[static_cast<size_t>(stage)], room, page);
      writePeak(getProfile(stage));
      if (isPipeline())
        page << "</details>\n";
    }
  }

  void writeSizes(int64_t stage) {
    const MemoryProfile &profile = getProfile(stage);
    page << "<p>Peak of a rank's arena: <b>" << formatBytes(profile.peakBytes) << "</b> ("
         << profile.peakBytes
         << " bytes); most bytes live at once, which no packing can go below: " << profile.mostLive << " ("
         << printPercent(profile.peakBytes ? double(profile.mostLive) / double(profile.peakBytes) : 1) << ")";
    if (facts.limit)
      page << "; limit " << formatBytes(facts.limit);
    const json::Value &memory = (*manifest.getArray("memory"))[static_cast<size_t>(stage)];
    if (int64_t host = *memory.getAsObject()->getInteger("host_peak_bytes"))
      page << "; host memory of a rank: <b>" << formatBytes(host) << "</b> (" << host << " bytes)";
    page << ".</p>\n";
  }

  /// Bytes exact, and as people read them.
  void writeBytes(int64_t bytes) {
    page << "<td class=\"n\">" << bytes << "</td><td class=\"n\">" << formatBytes(bytes) << "</td>";
  }

  void writePeak(const MemoryProfile &profile) {
    constexpr size_t most = 40;
    std::vector<BufferRow> rows = foldLiveAtPeak(profile);
    page << "<h3>Live at the peak</h3>\n<table><tr><th class=\"n\">bytes</th><th class=\"n\">size</th>"
            "<th>category</th><th>buffer</th><th>local tensor</th><th>how many</th></tr>\n";
    for (const BufferRow &row : llvm::ArrayRef(rows).take_front(most)) {
      page << "<tr>";
      writeBytes(row.bytes);
      page << "<td>" << rank::stringifyCategory(row.category) << "</td><td>"
           << escapeHtml(countFromOne(row.name)) << "</td><td>" << escapeHtml(row.type) << "</td><td>"
           << row.count() << "</td></tr>\n";
    }
    if (rows.size() > most) {
      int64_t bytes = 0, buffers = 0;
      for (const BufferRow &row : llvm::ArrayRef(rows).drop_front(most))
        bytes += row.bytes, buffers += row.buffers;
      page << "<tr>";
      writeBytes(bytes);
      page << "<td></td><td>" << buffers << " others</td><td></td><td></td></tr>\n";
    }
    page << "</table>\n";
  }

  //===--------------------------------------------------------------------===//
  // Collectives and the plan
  //===--------------------------------------------------------------------===//

  /// Rows that are the same but for their stages, with all of these; in the order of the first.
  static std::vector<std::pair<TrafficRow, StageKind>> joinStages(std::vector<TrafficRow> rows) {
    std::map<std::tuple<std::string, std::string, int64_t, int64_t, int64_t>, size_t> places;
    std::vector<std::pair<TrafficRow, StageKind>> joined;
    for (TrafficRow &row : rows) {
      auto [place, isNew] =
          places.try_emplace({row.describe(), row.cause, row.layers, row.bytes, row.calls}, joined.size());
      int64_t stage = row.stage;
      if (isNew)
        joined.push_back({std::move(row), {}});
      joined[place->second].second.stages.push_back(stage);
    }
    return joined;
  }

  void writeCollectives() {
    page
        << "<h2>Collectives and messages of a step</h2>\n<p>Bytes that a rank sends, as rings do: an "
           "all-reduce of B bytes over n ranks 2B(n−1)/n, others B(n−1)/n, a message B. Layers that send the "
           "same are one row.</p>\n";
    auto rows = joinStages(foldTraffic(*manifest.getArray("collectives"), /*causes=*/true));
    if (rows.empty()) {
      page << "<p>None: one rank.</p>\n";
      return;
    }
    page << "<table class=\"collectives\"><tr>" << (isPipeline() ? "<th>stage</th>" : "")
         << "<th>kind</th><th>axes</th><th class=\"n\">bytes per rank</th><th class=\"n\">size</th>"
            "<th class=\"n\">calls</th><th class=\"n\">layers</th><th>cause</th></tr>\n";
    for (auto &[row, stages] : rows) {
      page << "<tr>";
      if (isPipeline())
        page << "<td>" << stages.print() << "</td>";
      page << "<td>" << row.kind << "</td><td>" << row.axes << "</td>";
      writeBytes(row.bytes);
      page << "<td class=\"n\">" << row.calls << "</td><td class=\"n\">"
           << (row.layers ? std::to_string(row.layers) : "") << "</td><td>" << escapeHtml(row.cause)
           << "</td></tr>\n";
    }
    page << "</table>\n";
  }

  void writePlan() {
    page << "<h2>The plan</h2>\n<p>Flags of par-compile that make it: <code>" << escapeHtml(facts.flags)
         << "</code></p>\n<details><summary>All that is decided</summary>\n<table>\n";
    for (auto &[key, value] : *manifest.getObject("plan"))
      page << "<tr><td>" << escapeHtml(key) << "</td><td>" << escapeHtml(llvm::formatv("{0}", value).str())
           << "</td></tr>\n";
    page << "</table></details>\n";
  }

  const ReportFacts &facts;
  const json::Object &manifest;
  std::vector<StageKind> kinds;
  int64_t fullest, room;
  std::string text;
  llvm::raw_string_ostream page;
};
} // namespace

std::string par::writeReport(const ReportFacts &facts) { return ReportWriter(facts).run(); }
