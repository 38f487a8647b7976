//===- Report.cpp - a page about a compiled step --------------------------------------------------------===//
#include "par/Emit/Report.h"
#include "par/Support/Bytes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

static constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #667085; --line: #d0d5dd; --page: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #98a2b3; --line: #344054; --page: #14171c; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 2rem auto; max-width: 1080px; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { color: var(--soft); margin: .2rem 0 .6rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { width: 100%; height: auto; display: block; } svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.axis { stroke: var(--line); } .mark { stroke: var(--ink); stroke-dasharray: 4 3; } .buffer:hover { stroke: var(--ink); stroke-width: 1.5; }
.parameters { fill: #3b6fb6; } .gradients { fill: #e07b39; } .optimizer { fill: #7a52a5; }
.activations { fill: #3f9c6b; } .communication { fill: #c93f56; } .workspace { fill: #9aa3af; }
.legend span { display: inline-block; margin-right: 1.2rem; } .legend svg { display: inline; width: 12px; height: 12px; vertical-align: -1px; margin-right: .35rem; }
)";

namespace {
constexpr double kLeft = 80, kRight = 20, kTop = 12, kBottom = 34, kWidth = 1040;

class ReportWriter {
public:
  ReportWriter(ArrayRef<MemoryProfile> stages, const json::Object &manifest, int64_t limit, StringRef time)
      : stages(stages), profile(stages.begin()), manifest(manifest), limit(limit), time(time), page(text) {}

  std::string run() {
    page << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>par: memory and "
            "collectives of a step</title>\n<style>"
         << kStyle << "</style></head><body>\n";
    writeHead();
    page << time;
    writeLegend();
    for (profile = stages.begin(); profile != stages.end(); ++profile)
      writeStage();
    writeCollectives();
    page << "</body></html>\n";
    return page.str();
  }

private:
  static std::string escape(StringRef from) {
    std::string to;
    llvm::raw_string_ostream stream(to);
    llvm::printHTMLEscaped(from, stream);
    return stream.str();
  }

  static StringRef nameOf(unsigned category) {
    return rank::stringifyCategory(static_cast<rank::Category>(category));
  }

  int64_t countPoints() const { return static_cast<int64_t>(profile->points.size()); }

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  std::string printMesh() const {
    std::string mesh;
    for (const json::Value &axis : *manifest.getArray("mesh")) {
      const json::Array &pair = *axis.getAsArray();
      mesh += (mesh.empty() ? "" : ",") + pair[0].getAsString()->str() + "=" +
              std::to_string(*pair[1].getAsInteger());
    }
    return mesh;
  }

  void writeHead() {
    const json::Object &model = *manifest.getObject("model");
    page << "<h1>" << escape(model.getString("model_type").value_or("graph")) << ", "
         << model.getInteger("parameters").value_or(0) << " parameters</h1>\n<p>mesh " << printMesh()
         << ", batch " << *manifest.getInteger("batch") << " in " << *manifest.getInteger("micro_batches")
         << " micro-batches, seq " << *manifest.getInteger("seq") << ", " << *manifest.getString("dtype");
    for (auto &[key, value] : *manifest.getObject("plan"))
      page << ", " << escape(key) << " " << escape(llvm::formatv("{0}", value).str());
    page << "</p>\n";
  }

  bool isPipeline() const { return stages.size() > 1; }
  size_t getStage() const { return static_cast<size_t>(profile - stages.begin()); }

  void writeStage() {
    if (isPipeline())
      page << "<h2>Stage " << getStage() << "</h2>\n";
    writeSizes();
    writeAreas();
    writeMap();
    writePeak();
  }

  /// A heading of a stage, which has one itself in a pipeline.
  void writeHeading(StringRef heading) {
    StringRef tag = isPipeline() ? "h3" : "h2";
    page << "<" << tag << ">" << heading << "</" << tag << ">\n";
  }

  void writeSizes() {
    page << "<p>Peak of a rank's arena: <b>" << formatBytes(profile->peakBytes) << "</b> ("
         << profile->peakBytes
         << " bytes); most bytes live at once, which no packing can go below: " << profile->mostLive << " ("
         << printPercent(profile->mostLive, profile->peakBytes) << ")";
    if (limit)
      page << "; limit " << formatBytes(limit);
    int64_t host = *(*manifest.getArray("memory"))[getStage()].getAsObject()->getInteger("host_peak_bytes");
    if (host)
      page << "; host memory of a rank: <b>" << formatBytes(host) << "</b> (" << host << " bytes)";
    page << ".</p>\n";
  }

  static std::string printPercent(int64_t part, int64_t whole) {
    return llvm::formatv("{0:F1} %", whole ? 100.0 * double(part) / double(whole) : 100.0).str();
  }

  //===--------------------------------------------------------------------===//
  // Pictures
  //===--------------------------------------------------------------------===//

  void writeLegend() {
    page << "<p class=\"legend\">";
    for (unsigned category = 0; category < MemoryProfile::kCategories; ++category)
      page << "<span><svg viewBox=\"0 0 12 12\"><rect class=\"" << nameOf(category)
           << "\" width=\"12\" height=\"12\" rx=\"2\"/></svg>" << nameOf(category) << "</span>";
    page << "</p>\n";
  }

  double getX(double point) const {
    return kLeft + (kWidth - kLeft - kRight) * point / std::max<double>(1, double(countPoints()));
  }
  double getTop() const { return double(std::max({profile->peakBytes, limit, int64_t(1)})); }
  double getY(double bytes, double height) const {
    return kTop + (height - kTop - kBottom) * (1 - bytes / getTop());
  }

  void beginPicture(double height) {
    page << "<svg viewBox=\"0 0 " << kWidth << " " << height << "\" role=\"img\">\n";
    for (int i = 0; i <= 4; ++i) {
      double bytes = getTop() * i / 4, y = getY(bytes, height);
      page << llvm::formatv("<line class=\"axis\" x1=\"{0:F1}\" x2=\"{1:F1}\" y1=\"{2:F1}\" y2=\"{2:F1}\"/>"
                            "<text x=\"{3:F1}\" y=\"{4:F1}\" text-anchor=\"end\">{5}</text>\n",
                            kLeft, kWidth - kRight, y, kLeft - 8, y + 4, formatBytes(int64_t(bytes)));
    }
  }

  void endPicture(double height) {
    if (limit)
      page << llvm::formatv(
          "<line class=\"mark\" x1=\"{0:F1}\" x2=\"{1:F1}\" y1=\"{2:F1}\" y2=\"{2:F1}\"/>\n", kLeft,
          kWidth - kRight, getY(double(limit), height));
    writePhases(height);
    page << "</svg>\n";
  }

  /// The names of actions under the points at which they begin.
  void writePhases(double height) {
    std::string last;
    double free = 0;
    for (auto [point, label] : llvm::enumerate(profile->points)) {
      std::string phase = StringRef(label).split(':').first.split(", ").first.str();
      if (phase == last)
        continue;
      last = phase;
      double x = getX(double(point));
      if (x < free)
        continue;
      free = x + 8 * double(phase.size()) + 6;
      page << llvm::formatv("<line class=\"axis\" x1=\"{0:F1}\" x2=\"{0:F1}\" y1=\"{1:F1}\" y2=\"{2:F1}\"/>"
                            "<text x=\"{3:F1}\" y=\"{4:F1}\">{5}</text>\n",
                            x, kTop, height - kBottom + 6, x + 2, height - kBottom + 20, escape(phase));
    }
  }

  /// At most so many columns; of the points of a column the fullest is drawn.
  std::vector<int64_t> chooseColumns() const {
    constexpr int64_t most = 1200;
    int64_t step = (countPoints() + most - 1) / most;
    std::vector<int64_t> columns;
    for (int64_t begin = 0; begin < countPoints(); begin += step) {
      int64_t best = begin;
      for (int64_t point = begin; point < std::min(begin + step, countPoints()); ++point)
        if (sum(point) > sum(best))
          best = point;
      columns.push_back(best);
    }
    return columns;
  }

  int64_t sum(int64_t point) const {
    int64_t bytes = 0;
    for (int64_t part : profile->live[point])
      bytes += part;
    return bytes;
  }

  void writeAreas() {
    constexpr double height = 320;
    writeHeading("Live bytes over the step");
    page << "<p>From the first kernel to the last; categories on top of each other. The peak is at: "
         << escape(profile->points.empty() ? "" : profile->points[profile->fullest]) << ".</p>\n";
    beginPicture(height);
    std::vector<int64_t> columns = chooseColumns();
    std::vector<double> below(columns.size(), 0);
    for (unsigned category = 0; category < MemoryProfile::kCategories; ++category) {
      std::string upper, lower;
      for (auto [number, point] : llvm::enumerate(columns)) {
        double begin = getX(double(point)),
               end = getX(double(number + 1 < columns.size() ? columns[number + 1] : countPoints()));
        double top = below[number] + double(profile->live[point][category]);
        upper += llvm::formatv("{0:F1},{1:F1} {2:F1},{1:F1} ", begin, getY(top, height), end).str();
        lower = llvm::formatv("{0:F1},{1:F1} {2:F1},{1:F1} ", end, getY(below[number], height), begin).str() +
                lower;
        below[number] = top;
      }
      page << "<polygon class=\"" << nameOf(category) << "\" points=\"" << upper << lower << "\"><title>"
           << nameOf(category) << "</title></polygon>\n";
    }
    endPicture(height);
  }

  void writeMap() {
    constexpr double height = 420;
    constexpr size_t most = 4000;
    std::vector<const LiveBuffer *> buffers;
    for (const LiveBuffer &buffer : profile->buffers)
      buffers.push_back(&buffer);
    llvm::stable_sort(buffers, [](const LiveBuffer *a, const LiveBuffer *b) {
      return double(a->bytes) * double(a->end - a->begin + 1) >
             double(b->bytes) * double(b->end - b->begin + 1);
    });
    writeHeading("The arena");
    page << "<p>Every buffer at its address, from the first to the last kernel that "
            "needs it";
    if (buffers.size() > most)
      page << " (the " << most << " largest of " << buffers.size() << ")";
    page << "; point at one to see what it is.</p>\n";
    beginPicture(height);
    for (const LiveBuffer *buffer : llvm::ArrayRef(buffers).take_front(most)) {
      double x = getX(double(buffer->begin)), end = getX(double(buffer->end + 1));
      double top = getY(double(buffer->offset + buffer->bytes), height),
             bottom = getY(double(buffer->offset), height);
      page << llvm::formatv(
          "<rect class=\"buffer {0}\" fill-opacity=\".82\" x=\"{1:F2}\" y=\"{2:F2}\" width=\"{3:F2}\" "
          "height=\"{4:F2}\"><title>{5} {6}: {7}, {8} bytes at {9}</title></rect>\n",
          rank::stringifyCategory(buffer->category), x, top, std::max(end - x - .3, .3),
          std::max(bottom - top - .3, .3), escape(buffer->name), escape(buffer->type),
          rank::stringifyCategory(buffer->category), buffer->bytes, buffer->offset);
    }
    endPicture(height);
  }

  //===--------------------------------------------------------------------===//
  // Tables
  //===--------------------------------------------------------------------===//

  void writePeak() {
    constexpr size_t most = 40;
    std::vector<const LiveBuffer *> live = profile->getLiveAtPeak();
    writeHeading("Live at the peak");
    page << "<table><tr><th class=\"n\">bytes</th><th>category</th><th>buffer</th>"
            "<th>local tensor</th></tr>\n";
    for (const LiveBuffer *buffer : llvm::ArrayRef(live).take_front(most))
      page << "<tr><td class=\"n\">" << buffer->bytes << "</td><td>"
           << rank::stringifyCategory(buffer->category) << "</td><td>" << escape(buffer->name) << "</td><td>"
           << escape(buffer->type) << "</td></tr>\n";
    if (live.size() > most) {
      int64_t rest = 0;
      for (const LiveBuffer *buffer : llvm::ArrayRef(live).drop_front(most))
        rest += buffer->bytes;
      page << "<tr><td class=\"n\">" << rest << "</td><td></td><td>" << live.size() - most
           << " smaller ones</td><td></td></tr>\n";
    }
    page << "</table>\n";
  }

  void writeCollectives() {
    const json::Array &collectives = *manifest.getArray("collectives");
    page << "<h2>Collectives and messages of a step</h2>\n<p>Bytes that a rank sends, as rings do: an "
            "all-reduce of B bytes over n ranks 2B(n−1)/n, others B(n−1)/n, a message B.</p>\n";
    if (collectives.empty()) {
      page << "<p>None: one rank.</p>\n";
      return;
    }
    page << "<table><tr>" << (isPipeline() ? "<th>stage</th>" : "")
         << "<th>kind</th><th>axes</th><th class=\"n\">bytes per rank</th><th class=\"n\">calls</th>"
            "<th>cause</th></tr>\n";
    for (const json::Value &value : collectives) {
      const json::Object &entry = *value.getAsObject();
      std::string axes;
      for (const json::Value &axis : *entry.getArray("axes"))
        axes += (axes.empty() ? "" : " ") + axis.getAsString()->str();
      page << "<tr>";
      if (isPipeline())
        page << "<td>" << entry.getInteger("stage").value_or(0) << "</td>";
      page << "<td>" << *entry.getString("kind") << "</td><td>" << axes << "</td><td class=\"n\">"
           << *entry.getInteger("bytes") << "</td><td class=\"n\">" << *entry.getInteger("count")
           << "</td><td>" << escape(*entry.getString("cause")) << "</td></tr>\n";
    }
    page << "</table>\n";
  }

  ArrayRef<MemoryProfile> stages;
  const MemoryProfile *profile; ///< of the stage that is written
  const json::Object &manifest;
  int64_t limit;
  StringRef time; ///< a part of the page
  std::string text;
  llvm::raw_string_ostream page;
};
} // namespace

std::string par::writeReport(ArrayRef<MemoryProfile> stages, const json::Object &manifest, int64_t limit,
                             StringRef time) {
  return ReportWriter(stages, manifest, limit, time).run();
}
