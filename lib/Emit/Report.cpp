//===- Report.cpp - a page about a compiled step --------------------------------------------------------===//
#include "par/Emit/Report.h"
#include "par/Emit/FoldedMemory.h"
#include "par/Emit/FoldedTraffic.h"
#include "par/Emit/Page.h"
#include "par/Emit/StepWork.h"
#include "par/Support/Bytes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

namespace {
constexpr double kLeft = 80, kRight = 20, kTop = 12, kBottom = 34, kWidth = 1040;

class ReportWriter {
public:
  ReportWriter(ArrayRef<MemoryProfile> stages, const json::Object &manifest, int64_t limit, StringRef time)
      : stages(stages), profile(stages.begin()), manifest(manifest), limit(limit), time(time), page(text) {}

  std::string run() {
    beginPage(page, "memory and collectives of a step");
    writeHead();
    page << time;
    writeLegend();
    for (profile = stages.begin(); profile != stages.end(); ++profile)
      writeStage();
    writeStepWork(manifest, page);
    writeCollectives();
    endPage(page);
    return page.str();
  }

private:
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
    page << "<h1>" << escapeHtml(model.getString("model_type").value_or("graph")) << ", "
         << model.getInteger("parameters").value_or(0) << " parameters</h1>\n<p>mesh " << printMesh()
         << ", batch " << *manifest.getInteger("batch") << " in " << *manifest.getInteger("micro_batches")
         << " micro-batches, ";
    if (int64_t seq = *manifest.getInteger("seq"))
      page << "seq " << seq << ", ";
    page << *manifest.getString("dtype");
    for (auto &[key, value] : *manifest.getObject("plan"))
      page << ", " << escapeHtml(key) << " " << escapeHtml(llvm::formatv("{0}", value).str());
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
                            x, kTop, height - kBottom + 6, x + 2, height - kBottom + 20, escapeHtml(phase));
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
         << escapeHtml(profile->points.empty() ? "" : profile->points[profile->fullest]) << ".</p>\n";
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
          std::max(bottom - top - .3, .3),
          escapeHtml(buffer->name + (buffer->slot.empty() ? "" : ", " + buffer->slot)),
          escapeHtml(buffer->type), rank::stringifyCategory(buffer->category), buffer->bytes, buffer->offset);
    }
    endPicture(height);
  }

  //===--------------------------------------------------------------------===//
  // Tables
  //===--------------------------------------------------------------------===//

  /// Bytes exact, and as people read them.
  void writeBytes(int64_t bytes) {
    page << "<td class=\"n\">" << bytes << "</td><td class=\"n\">" << formatBytes(bytes) << "</td>";
  }

  void writePeak() {
    constexpr size_t most = 40;
    std::vector<BufferRow> rows = foldLiveAtPeak(*profile);
    writeHeading("Live at the peak");
    page << "<table><tr><th class=\"n\">bytes</th><th class=\"n\">size</th><th>category</th><th>buffer</th>"
            "<th>local tensor</th><th>how many</th></tr>\n";
    for (const BufferRow &row : llvm::ArrayRef(rows).take_front(most)) {
      page << "<tr>";
      writeBytes(row.bytes);
      page << "<td>" << rank::stringifyCategory(row.category) << "</td><td>" << escapeHtml(row.name)
           << "</td><td>" << escapeHtml(row.type) << "</td><td>" << row.count() << "</td></tr>\n";
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

  void writeCollectives() {
    std::vector<TrafficRow> rows = foldTraffic(*manifest.getArray("collectives"), /*causes=*/true);
    page
        << "<h2>Collectives and messages of a step</h2>\n<p>Bytes that a rank sends, as rings do: an "
           "all-reduce of B bytes over n ranks 2B(n−1)/n, others B(n−1)/n, a message B. Layers that send the "
           "same are one row.</p>\n";
    if (rows.empty()) {
      page << "<p>None: one rank.</p>\n";
      return;
    }
    page << "<table><tr>" << (isPipeline() ? "<th>stage</th>" : "")
         << "<th>kind</th><th>axes</th><th class=\"n\">bytes per rank</th><th class=\"n\">size</th>"
            "<th class=\"n\">calls</th><th class=\"n\">layers</th><th>cause</th></tr>\n";
    for (const TrafficRow &row : rows) {
      page << "<tr>";
      if (isPipeline())
        page << "<td>" << row.stage << "</td>";
      page << "<td>" << row.kind << "</td><td>" << row.axes << "</td>";
      writeBytes(row.bytes);
      page << "<td class=\"n\">" << row.calls << "</td><td class=\"n\">"
           << (row.layers ? std::to_string(row.layers) : "") << "</td><td>" << escapeHtml(row.cause)
           << "</td></tr>\n";
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
