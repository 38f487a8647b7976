//===- StagePicture.cpp - what stages do and hold over time ---------------------------------------------===//
#include "par/Emit/StagePicture.h"
#include "par/Schedule/Messages.h"
#include "par/Schedule/PrintSchedule.h"
#include "par/Support/Bytes.h"
#include "par/Support/Seconds.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

static constexpr const char *kStyle = R"(<style>
.forward { fill: #3b6fb6; } .backward { fill: #3f9c6b; } .backward_input { fill: #3f9c6b; } .backward_weight { fill: #8fcfae; }
.once { fill: #e07b39; } .sum { fill: #c93f56; } .held { fill: #9aa3af; fill-opacity: .55; } .action:hover { stroke: var(--ink); }
</style>
)";

namespace {
constexpr double kLeft = 80, kRight = 20, kWidth = 1040, kBottom = 24;
constexpr double kActions = 16, kMemory = 44, kGap = 10; ///< heights: of a row, what is below it, and no more

class Picture {
public:
  Picture(const PredictedStep &step, ArrayRef<MemoryProfile> memory, int64_t limit)
      : step(step), memory(memory), limit(limit), page(text) {
    for (const MemoryProfile &profile : memory)
      top = std::max(top, profile.mostLive);
    // Beside a limit that is far away, nothing could be seen.
    if (limit > 4 * top)
      this->limit = 0;
    top = std::max(top, this->limit);
  }

  std::string run() {
    const Timeline &timeline = step.timeline;
    double height = double(timeline.stages.size()) * (kActions + kMemory + kGap) + kBottom;
    page
        << kStyle << "<h2>The step in time</h2>\n<p>By the cost model " << formatSeconds(timeline.end)
        << ", of which a stage works " << formatSeconds(timeline.work) << ": bubble "
        << llvm::formatv("{0:F1}", 100 * getIdleOfTotal(timeline))
        << " %. Forward blue, backward green, weights apart light green, what is done once orange, sums over "
           "stages red; below, the bytes that are live. Point at an action to see what it is.</p>\n"
        << llvm::formatv("<svg class=\"stages\" viewBox=\"0 0 {0} {1}\">\n", kWidth, height);
    for (size_t stage = 0; stage < timeline.stages.size(); ++stage)
      writeStage(stage);
    writeAxis(height);
    page << "</svg>\n";
    return page.str();
  }

private:
  double getX(double seconds) const {
    return kLeft + (kWidth - kLeft - kRight) * seconds / step.timeline.end;
  }
  static double getTop(size_t stage) { return double(stage) * (kActions + kMemory + kGap); }
  /// Of bytes below the row of a stage.
  double getY(size_t stage, int64_t bytes) const {
    return getTop(stage) + kActions + kMemory * (1 - double(bytes) / double(top));
  }

  void writeStage(size_t stage) {
    page << llvm::formatv("<text x=\"{0}\" y=\"{1:F1}\" text-anchor=\"end\">stage {2}</text>\n", kLeft - 8,
                          getTop(stage) + kActions - 4, stage);
    writeActions(stage);
    writeMemory(stage);
  }

  static StringRef getClass(ActionKind kind) {
    switch (kind) {
    case ActionKind::Forward:
      return "forward";
    case ActionKind::Backward:
    case ActionKind::BackwardLast:
      return "backward";
    case ActionKind::BackwardInput:
      return "backward_input";
    case ActionKind::BackwardWeight:
    case ActionKind::BackwardWeightLast:
      return "backward_weight";
    default:
      return isSum(kind) ? "sum" : "once";
    }
  }

  void writeActions(size_t stage) {
    for (const TimedAction &timed : step.timeline.stages[stage]) {
      if (getMessage(timed.action) || timed.end <= timed.begin)
        continue;
      double x = getX(timed.begin), width = getX(timed.end) - x;
      // A gap, where there is place for one.
      page << llvm::formatv("<rect class=\"action {0}\" x=\"{1:F2}\" y=\"{2:F1}\" width=\"{3:F2}\" "
                            "height=\"{4}\"><title>{5}, {6}: {7} from {8}</title></rect>\n",
                            getClass(timed.action.kind), x, getTop(stage), width > 2 ? width - .5 : width,
                            kActions, step.lists.describe(timed.action),
                            stringifyActionKind(timed.action.kind), formatSeconds(timed.end - timed.begin),
                            formatSeconds(timed.begin));
    }
  }

  int64_t findMost(const MemoryProfile &profile, rank::Lifetime points) const {
    int64_t most = 0;
    for (int64_t point = points.begin; point <= points.end; ++point) {
      const rank::CategoryBytes &live = profile.live[point];
      most = std::max(most, std::accumulate(live.begin(), live.end(), int64_t(0)));
    }
    return most;
  }

  /// The most that is live at a point of an entry, from when it begins.
  void writeMemory(size_t stage) {
    const MemoryProfile &profile = memory[stage];
    std::string line;
    double y = getY(stage, 0);
    auto moveTo = [&](double seconds, double newY) {
      if (newY != y)
        line += llvm::formatv("{0:F2},{1:F2} {0:F2},{2:F2} ", getX(seconds), y, newY).str();
      y = newY;
    };
    for (auto [timed, points] : llvm::zip(step.timeline.stages[stage], profile.entries))
      if (!points.isEmpty())
        moveTo(timed.begin, getY(stage, findMost(profile, points)));
    moveTo(step.timeline.end, getY(stage, 0));
    page << llvm::formatv("<polygon class=\"held\" points=\"{0}\"><title>stage {1}: at most {2} bytes "
                          "live</title></polygon>\n",
                          StringRef(line).rtrim(), stage, profile.mostLive);
    page << llvm::formatv("<text x=\"{0}\" y=\"{1:F1}\" text-anchor=\"end\">{2}</text>\n", kLeft - 8,
                          getY(stage, profile.mostLive) + 8, formatBytes(profile.mostLive));
    if (limit)
      page << llvm::formatv("<line class=\"mark\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:F1}\" y2=\"{2:F1}\"/>\n",
                            kLeft, kWidth - kRight, getY(stage, limit));
  }

  void writeAxis(double height) {
    constexpr int parts = 5;
    for (int i = 0; i <= parts; ++i) {
      double seconds = step.timeline.end * i / parts, x = getX(seconds);
      page << llvm::formatv("<line class=\"axis\" x1=\"{0:F1}\" x2=\"{0:F1}\" y1=\"0\" y2=\"{1:F1}\"/>"
                            "<text x=\"{0:F1}\" y=\"{2:F1}\" text-anchor=\"{3}\">{4}</text>\n",
                            x, height - kBottom, height - 8, i == parts ? "end" : "middle",
                            formatSeconds(seconds));
    }
  }

  const PredictedStep &step;
  ArrayRef<MemoryProfile> memory;
  int64_t limit, top = 1;
  std::string text;
  llvm::raw_string_ostream page;
};
} // namespace

std::string par::drawStages(const PredictedStep &step, ArrayRef<MemoryProfile> memory, int64_t limit) {
  return Picture(step, memory, limit).run();
}
