//===- StagePicture.cpp - what stages do and hold over time ---------------------------------------------===//
#include "par/Emit/StagePicture.h"
#include "MemoryPicture.h"
#include "par/Emit/Page.h"
#include "par/Emit/PictureTicks.h"
#include "par/Schedule/Messages.h"
#include "par/Support/Bytes.h"
#include "par/Support/Seconds.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::par;

static constexpr const char *kStyle = R"(<style>
.forward { fill: #3b6fb6; } .backward { fill: #3f9c6b; } .backward_input { fill: #2d8a8a; } .backward_weight { fill: #8fcfae; }
.once { fill: #667085; } .sum { fill: var(--ink); } .message { fill: #c93f56; } .held { fill: #9aa3af; fill-opacity: .45; }
.stages path:hover { stroke: var(--ink); stroke-width: 1.5; } .stages g g text { font-size: 10px; fill: #ffffff; text-anchor: middle; pointer-events: none; } .stages .backward_weight text { fill: #123b26; }
</style>
)";

namespace {
constexpr double kLeft = 80, kRight = 20, kWidth = 1040, kBottom = 24;
/// Heights: of a row of actions, of the messages below it, of the bytes below these, and no more.
constexpr double kActions = 16, kMessages = 4, kMemory = 40, kGap = 10;
constexpr double kRow = kActions + kMessages + kMemory + kGap;

/// A kind of box that actions are drawn as, and what it means.
struct ActionClass {
  StringRef name, meaning;
};

ActionClass getClass(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return {"forward", "forward"};
  case ActionKind::Backward:
  case ActionKind::BackwardLast:
    return {"backward", "backward"};
  case ActionKind::BackwardInput:
    return {"backward_input", "backward, input part"};
  case ActionKind::BackwardWeight:
  case ActionKind::BackwardWeightLast:
    return {"backward_weight", "backward, weight part"};
  default:
    return isSum(kind) ? ActionClass{"sum", "sums over stages"}
                       : ActionClass{"once", "once a step: reduce, norm, update"};
  }
}

class Picture {
public:
  Picture(const PredictedStep &step, ArrayRef<MemoryProfile> memory, int64_t limit)
      : step(step), memory(memory), page(text) {
    for (const MemoryProfile &profile : memory)
      top = std::max(top, profile.mostLive);
    this->limit = getDrawnLimit(limit, top);
    top = std::max(top, this->limit);
  }

  std::string run() {
    size_t stages = step.timeline.stages.size();
    double height = double(stages) * kRow + kBottom;
    page << kStyle << "<h2>The step in time</h2>\n<p>What " << (stages > 1 ? "every stage" : "a rank")
         << " does, by the cost model, and below it the bytes that are live. Numbers are micro-batches"
         << (step.lists.shape.chunksPerStage > 1 ? ", letters chunks of the stage" : "")
         << ". Point at a box to see what it is.";
    if (limit)
      page << " Dashed: the " << formatBytes(limit) << " that a rank may take.";
    page << "</p>\n";
    writeLegend();
    page << llvm::formatv("<svg class=\"stages\" viewBox=\"0 0 {0} {1}\">\n", kWidth, height);
    writeAxis(height);
    for (size_t stage = 0; stage < stages; ++stage)
      writeStage(stage);
    page << "</svg>\n";
    return page.str();
  }

private:
  double getX(double seconds) const {
    // Neighbours meet after rounding, too.
    return std::round(10 * (kLeft + (kWidth - kLeft - kRight) * seconds / step.timeline.end)) / 10;
  }
  /// The height of bytes in the row of a stage.
  double getY(int64_t bytes) const {
    return kActions + kMessages + kMemory * (1 - double(bytes) / double(top));
  }
  static std::string print(double coordinate) { return llvm::formatv("{0:F1}", coordinate); }

  static bool isDrawn(const TimedAction &timed) {
    return !getMessage(timed.action) && timed.end > timed.begin;
  }

  /// Writes the legend of what is in this picture.
  void writeLegend() {
    std::vector<LegendEntry> entries;
    for (ActionKind kind : {ActionKind::Forward, ActionKind::Backward, ActionKind::BackwardInput,
                            ActionKind::BackwardWeight, ActionKind::Update, ActionKind::SumSquares}) {
      auto [name, meaning] = getClass(kind);
      auto isOf = [name = name](const TimedAction &timed) {
        return isDrawn(timed) && getClass(timed.action.kind).name == name;
      };
      if (llvm::any_of(step.timeline.stages, [&](auto &actions) { return llvm::any_of(actions, isOf); }))
        entries.push_back({name, meaning});
    }
    if (!step.timeline.messages.empty())
      entries.push_back({"message", "messages to other stages"});
    entries.push_back({"held", "bytes live"});
    par::writeLegend(entries, page);
  }

  void writeStage(size_t stage) {
    page << llvm::formatv("<g transform=\"translate(0 {0:F0})\">\n", double(stage) * kRow);
    page << llvm::formatv("<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2}</text>\n", kLeft - 8,
                          kActions - 4,
                          step.timeline.stages.size() > 1 ? "stage " + std::to_string(stage) : "");
    writeActions(stage);
    writeMessages(stage);
    writeMemory(stage);
    page << "</g>\n";
  }

  //===--------------------------------------------------------------------===//
  // Actions
  //===--------------------------------------------------------------------===//

  std::string drawBox(double begin, double end, double y, double height, double least = .1) const {
    double x = getX(begin), width = std::max(getX(end) - x, least);
    // A gap, where there is place for one.
    std::string across = print(width > 2 ? width - .5 : width);
    return llvm::formatv("M{0} {1:F0}h{2}v{3:F0}h-{2}z", print(x), y, across, height);
  }

  /// Boxes that are too narrow to be pointed at are one shape for all of a class.
  void writeActions(size_t stage) {
    llvm::MapVector<StringRef, std::pair<std::string, std::string>> classes; // wide ones, and narrow ones
    for (const TimedAction &timed : step.timeline.stages[stage]) {
      if (!isDrawn(timed))
        continue;
      auto &[wide, narrow] = classes[getClass(timed.action.kind).name];
      std::string box = drawBox(timed.begin, timed.end, 0, kActions);
      if (getX(timed.end) - getX(timed.begin) < 1) {
        narrow += box;
        continue;
      }
      wide += "<path d=\"" + box + "\"><title>" + describe(timed) + "</title></path>\n";
      if (std::string number = getNumber(timed); !number.empty())
        wide += llvm::formatv("<text x=\"{0}\" y=\"12\">{1}</text>\n",
                              print((getX(timed.begin) + getX(timed.end)) / 2), number);
    }
    for (auto &[name, boxes] : classes) {
      page << "<g class=\"" << name << "\">\n" << boxes.first;
      if (!boxes.second.empty())
        page << "<path d=\"" << boxes.second << "\"/>\n";
      page << "</g>\n";
    }
  }

  std::string describe(const TimedAction &timed) const {
    return llvm::formatv("{0}, {1}: {2} from {3}", step.lists.describe(timed.action),
                         stringifyActionKind(timed.action.kind), formatSeconds(timed.end - timed.begin),
                         formatSeconds(timed.begin));
  }

  /// The micro-batch of a box, with its chunk where there is place; empty: there is none for either.
  std::string getNumber(const TimedAction &timed) const {
    constexpr double perLetter = 6, border = 3;
    if (timed.action.microBatch < 0)
      return "";
    std::string name = step.lists.describe(timed.action);
    StringRef whole = StringRef(name).drop_while(llvm::isAlpha);
    for (StringRef number : {whole, whole.take_while(llvm::isDigit)})
      if (perLetter * double(number.size()) + border <= getX(timed.end) - getX(timed.begin))
        return number.str();
    return "";
  }

  void writeMessages(size_t stage) {
    std::string boxes;
    for (const TimedMessage &message : step.timeline.messages)
      if (message.send.stage == stage && message.end > message.begin)
        boxes += drawBox(message.begin, message.end, kActions + 1, kMessages - 1, /*least=*/1);
    if (!boxes.empty())
      page << "<path class=\"message\" d=\"" << boxes << "\"><title>messages of stage " << stage
           << "</title></path>\n";
  }

  //===--------------------------------------------------------------------===//
  // Bytes
  //===--------------------------------------------------------------------===//

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
    double y = getY(0);
    auto moveTo = [&](double seconds, double newY) {
      if (newY != y)
        line += "H" + print(getX(seconds)) + "V" + print(newY);
      y = newY;
    };
    for (auto [timed, points] : llvm::zip(step.timeline.stages[stage], profile.entries))
      if (!points.isEmpty())
        moveTo(timed.begin, getY(findMost(profile, points)));
    moveTo(step.timeline.end, getY(0));
    page << llvm::formatv(
        "<path class=\"held\" d=\"M{0} {1}{2}z\"><title>{3}at most {4} live</title></path>\n", print(getX(0)),
        print(getY(0)), line,
        step.timeline.stages.size() > 1 ? llvm::formatv("stage {0}: ", stage).str() : "",
        formatBytes(profile.mostLive));
    page << llvm::formatv("<text x=\"{0}\" y=\"{1:F1}\" text-anchor=\"end\">{2}</text>\n", kLeft - 8,
                          std::max(getY(profile.mostLive) + 8, kActions + kMessages + 10),
                          formatBytes(profile.mostLive));
    if (limit)
      page << llvm::formatv("<line class=\"mark\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:F1}\" y2=\"{2:F1}\"/>\n",
                            kLeft, kWidth - kRight, getY(limit));
  }

  void writeAxis(double height) {
    for (const PictureTick &tick : chooseSecondTicks(step.timeline.end, 8))
      page << llvm::formatv("<line class=\"axis\" x1=\"{0:F1}\" x2=\"{0:F1}\" y1=\"0\" y2=\"{1:F1}\"/>"
                            "<text x=\"{0:F1}\" y=\"{2:F1}\" text-anchor=\"middle\">{3}</text>\n",
                            getX(tick.value), height - kBottom, height - 8, tick.label);
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
