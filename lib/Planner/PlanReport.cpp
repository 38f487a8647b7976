//===- PlanReport.cpp - a page about the plans of a model -----------------------------------------------===//
#include "PlanReport.h"
#include "par/Compile/PlanFlags.h"
#include "par/Emit/Page.h"
#include "par/Emit/PictureTicks.h"
#include "par/Support/Bytes.h"
#include "par/Support/Seconds.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::par;
using llvm::formatv;

namespace {
class ReportWriter {
public:
  explicit ReportWriter(const PlanReport &report) : report(report), page(text) {}

  std::string run() {
    beginPage(page, "plans of " + report.model);
    const FoundPlan &best = report.result.plans.front();
    page << "<h1>Plans of " << escapeHtml(report.model) << "</h1>\n<p>For " << best.plan.countRanks()
         << " ranks of " << escapeHtml(report.facts.cluster.name) << ": " << report.result.weighed
         << " plans weighed, " << report.result.estimated << " estimated, " << report.result.compiled
         << " compiled.</p>\n";
    writePlans();
    writeNotes();
    writeLevers();
    writeFrontier();
    writeStrategies();
    page << report.steps;
    endPage(page);
    return page.str();
  }

private:
  static double getPeak(const FoundPlan &found) { return static_cast<double>(found.size.getPeak()); }
  static std::string printFlags(const FoundPlan &found) {
    return escapeHtml(printDifference(Plan(), found.plan));
  }

  void writeRow(const FoundPlan &found) {
    PlanFacts facts(found, report.facts);
    page << formatv("<td class=\"n\">{0}</td><td class=\"n\">{1:f0}</td><td class=\"n\">{2:f1} %</td>"
                    "<td class=\"n\">{3}</td><td class=\"n\">{4:f1} %</td><td>{5}</td>",
                    formatSeconds(found.seconds), facts.unitsPerSecond, 100 * facts.mfu,
                    formatBytes(found.size.getPeak()), 100 * found.bubble, printFlags(found));
  }

  void beginTable(llvm::StringRef first) {
    page << "<table>\n<tr><th>" << first << "</th><th class=\"n\">step</th><th class=\"n\">"
         << getUnit(report.result.plans.front().plan)
         << "/s</th><th class=\"n\">mfu</th>"
            "<th class=\"n\">memory of a rank</th><th class=\"n\">bubble</th><th>flags</th></tr>\n";
  }

  void writePlans() {
    page << "<h2>The best plans</h2>\n";
    beginTable("");
    if (report.result.plainest != 0) {
      page << "<tr><td>plainest</td>";
      writeRow(report.result.getPlainest());
      page << "</tr>\n";
    }
    int64_t number = 0;
    for (const FoundPlan &found : llvm::ArrayRef(report.result.plans).take_front(report.top)) {
      page << "<tr><td class=\"n\">" << ++number << "</td>";
      writeRow(found);
      page << "</tr>\n";
    }
    page << "</table>\n";
  }

  /// Writes what is said of the plans, and of how far predictions are off.
  void writeNotes() {
    for (const std::string &note : listNotes(report.result, report.facts))
      page << "<p>" << escapeHtml(note) << "</p>\n";
    std::string claim;
    llvm::raw_string_ostream os(claim);
    printClaim(report.facts.claim, os);
    page << "<p>" << escapeHtml(os.str()) << "</p>\n";
  }

  void writeLevers() {
    for (const MemoryLever &lever : report.result.levers)
      page << formatv("<p>Memory binds: without {0} the first would take {1:f1} % less, but stage {2} is {3} "
                      "short.</p>\n",
                      escapeHtml(lever.flags), 100 * lever.share, lever.stage,
                      formatBytes(static_cast<int64_t>(lever.shortBytes)));
  }

  void writeStrategies() {
    if (report.strategies.empty())
      return;
    page << "<h2>Pure strategies</h2>\n";
    beginTable("strategy");
    for (const StrategyRow &row : report.strategies) {
      page << "<tr><td>" << escapeHtml(row.name) << "</td>";
      if (row.plan)
        writeRow(*row.plan);
      else if (row.leastBytes)
        page << "<td colspan=\"6\">does not fit: " << formatBytes(static_cast<int64_t>(*row.leastBytes))
             << " per rank at least</td>";
      else
        page << "<td colspan=\"6\">no such plan of these ranks</td>";
      page << "</tr>\n";
    }
    page << "</table>\n";
  }

  //===--------------------------------------------------------------------===//
  // Step time against memory
  //===--------------------------------------------------------------------===//

  double getX(double bytes) const { return kLeft + (kWidth - kLeft - kRight) * bytes / mostBytes; }
  double getY(double seconds) const {
    return kTop + (kHeight - kTop - kBottom) * (1 - seconds / mostSeconds);
  }

  void writeFrontier() {
    if (report.frontier.empty())
      return;
    double limit = report.facts.cluster.getUsableBytes(1), most = getPeak(report.frontier.front());
    // What is far above all plans would press them to the left.
    bool showsLimit = limit < 4 * most;
    mostBytes = 1.05 * (showsLimit ? std::max(limit, most) : most);
    mostSeconds = report.frontier.back().seconds * 1.1;
    page << "<h2>Step time against memory</h2>\n<p>The quickest plan for each amount of memory; a dashed "
            "line is what a rank has.</p>\n"
         << formatv("<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"step time against memory\">\n",
                    kWidth, kHeight);
    writeAxes();
    if (showsLimit)
      page << formatv("<line class=\"mark\" x1=\"{0:f1}\" x2=\"{0:f1}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                      getX(limit), kTop, kHeight - kBottom);
    std::string line;
    for (const FoundPlan &found : report.frontier)
      line += formatv("{0:f1},{1:f1} ", getX(getPeak(found)), getY(found.seconds)).str();
    page << "<polyline fill=\"none\" stroke=\"#3b6fb6\" points=\"" << llvm::StringRef(line).rtrim()
         << "\"/>\n";
    for (const FoundPlan &found : report.frontier)
      page << formatv("<circle class=\"parameters\" r=\"5\" cx=\"{0:f1}\" cy=\"{1:f1}\"><title>{2}, {3}: "
                      "{4}</title></circle>\n",
                      getX(getPeak(found)), getY(found.seconds), formatSeconds(found.seconds),
                      formatBytes(found.size.getPeak()), printFlags(found));
    page << "</svg>\n";
    beginTable("");
    for (const FoundPlan &found : report.frontier) {
      page << "<tr><td></td>";
      writeRow(found);
      page << "</tr>\n";
    }
    page << "</table>\n";
  }

  void writeAxes() {
    constexpr int parts = 6;
    for (const PictureTick &tick : chooseByteTicks(mostBytes, parts))
      page << formatv("<line class=\"axis\" x1=\"{0:f1}\" x2=\"{0:f1}\" y1=\"{1}\" y2=\"{2}\"/><text "
                      "x=\"{0:f1}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
                      getX(tick.value), kTop, kHeight - kBottom, kHeight - 8, tick.label);
    for (const PictureTick &tick : chooseSecondTicks(mostSeconds, parts))
      page << formatv("<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:f1}\" y2=\"{2:f1}\"/><text "
                      "x=\"{3}\" y=\"{4:f1}\" text-anchor=\"end\">{5}</text>\n",
                      kLeft, kWidth - kRight, getY(tick.value), kLeft - 8, getY(tick.value) + 4, tick.label);
  }

  static constexpr double kWidth = 1040, kHeight = 360, kLeft = 80, kRight = 40, kTop = 12, kBottom = 30;

  const PlanReport &report;
  double mostBytes = 1, mostSeconds = 1;
  std::string text;
  llvm::raw_string_ostream page;
};
} // namespace

std::string mlir::par::printReport(const PlanReport &report) { return ReportWriter(report).run(); }
