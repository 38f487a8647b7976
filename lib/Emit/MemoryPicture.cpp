//===- MemoryPicture.cpp - a rank's memory over a step, drawn -------------------------------------------===//
#include "MemoryPicture.h"
#include "par/Emit/Page.h"
#include "par/Emit/PictureTicks.h"
#include "par/Schedule/Messages.h"
#include "par/Support/Bytes.h"
#include "par/Support/FoldLayers.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::par;

namespace {
constexpr double kLeft = 80, kRight = 20, kTop = 12, kBottom = 34, kWidth = 1040;
constexpr double kAreasHeight = 320, kMapHeight = 420;
/// Shapes are in tenths of a unit, which are integers: a page has thousands of corners.
constexpr double kShapes = 10;
/// As a profile writes it in the names of points and buffers.
constexpr llvm::StringLiteral kMicroBatch = ", micro-batch ";

class MemoryPicture {
public:
  MemoryPicture(const MemoryProfile &profile, ArrayRef<TimedAction> actions, int64_t limit,
                llvm::raw_ostream &page)
      : profile(profile), actions(actions), limit(getDrawnLimit(limit, profile.peakBytes)), page(page) {}

  void run() {
    page << "<h3>Live bytes over the step</h3>\n<p>From the first kernel to the last; categories on top of "
            "each other. The peak is at: "
         << (profile.points.empty() ? "" : escapeHtml(countFromOne(profile.points[profile.fullest])))
         << ".</p>\n";
    draw(kAreasHeight, [&] { drawAreas(); });
    std::vector<const LiveBuffer *> buffers = chooseBuffers();
    page << "<h3>The arena</h3>\n<p>Every buffer at its address, from the first to the last kernel that "
            "needs it";
    if (buffers.size() < profile.buffers.size())
      page << " (the " << buffers.size() << " largest of " << profile.buffers.size() << ")";
    page << "; point at one to see what it is, and all that are like it.</p>\n";
    draw(kMapHeight, [&] { drawBuffers(buffers); });
  }

private:
  int64_t countPoints() const { return static_cast<int64_t>(profile.points.size()); }

  //===--------------------------------------------------------------------===//
  // Axes
  //===--------------------------------------------------------------------===//

  double getX(double point) const {
    return kLeft + (kWidth - kLeft - kRight) * point / std::max<double>(1, double(countPoints()));
  }
  double getTop() const { return double(std::max({profile.peakBytes, limit, int64_t(1)})); }
  double getY(double bytes) const { return kTop + (height - kTop - kBottom) * (1 - bytes / getTop()); }
  int64_t getShapeX(double point) const { return std::llround(kShapes * getX(point)); }
  int64_t getShapeY(double bytes) const { return std::llround(kShapes * getY(bytes)); }

  template <typename Content>
  void draw(double newHeight, Content content) {
    height = newHeight;
    page << "<svg viewBox=\"0 0 " << kWidth << " " << height << "\" role=\"img\">\n";
    for (const PictureTick &tick : chooseByteTicks(getTop(), 5))
      page << llvm::formatv("<line class=\"axis\" x1=\"{0:F1}\" x2=\"{1:F1}\" y1=\"{2:F1}\" y2=\"{2:F1}\"/>"
                            "<text x=\"{3:F1}\" y=\"{4:F1}\" text-anchor=\"end\">{5}</text>\n",
                            kLeft, kWidth - kRight, getY(tick.value), kLeft - 8, getY(tick.value) + 4,
                            tick.label);
    page << "<g transform=\"scale(.1)\">\n";
    content();
    page << "</g>\n";
    if (limit)
      page << llvm::formatv("<line class=\"mark\" x1=\"{0:F1}\" x2=\"{1:F1}\" y1=\"{2:F1}\" y2=\"{2:F1}\">"
                            "<title>what a rank has: {3}</title></line>\n",
                            kLeft, kWidth - kRight, getY(double(limit)), formatBytes(limit));
    writeActions();
    page << "</svg>\n";
  }

  /// Writes what begins at a point, where there is place: what computes, with its micro-batch.
  void writeActions() {
    double free = 0;
    for (auto [timed, points] : llvm::zip(actions, profile.entries)) {
      if (getMessage(timed.action) || points.isEmpty() || getX(double(points.begin)) < free)
        continue;
      std::string name = stringifyActionKind(timed.action.kind).str();
      std::replace(name.begin(), name.end(), '_', ' ');
      if (timed.action.microBatch >= 0)
        name += " " + std::to_string(timed.action.microBatch + 1);
      double x = getX(double(points.begin)), width = 6.5 * double(name.size());
      if (x + width > kWidth)
        break;
      free = x + width + 10;
      page << llvm::formatv("<line class=\"axis\" x1=\"{0:F1}\" x2=\"{0:F1}\" y1=\"{1:F1}\" y2=\"{2:F1}\"/>"
                            "<text x=\"{3:F1}\" y=\"{4:F1}\">{5}</text>\n",
                            x, kTop, height - kBottom + 6, x + 2, height - kBottom + 20, name);
    }
  }

  //===--------------------------------------------------------------------===//
  // Live bytes
  //===--------------------------------------------------------------------===//

  /// Sums up so many of the first categories.
  int64_t sum(int64_t point, unsigned categories = rank::kCategories) const {
    const rank::CategoryBytes &live = profile.live[point];
    return std::accumulate(live.begin(), live.begin() + categories, int64_t(0));
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

  /// From the axis up to what a category and those below it have; those below are drawn over it.
  void drawAreas() {
    std::vector<int64_t> columns = chooseColumns();
    for (unsigned category = rank::kCategories; category-- > 0;) {
      if (llvm::none_of(columns, [&](int64_t point) { return profile.live[point][category] > 0; }))
        continue;
      StringRef name = rank::stringifyCategory(static_cast<rank::Category>(category));
      int64_t y = getShapeY(0);
      page << "<path class=\"" << name << "\" d=\"M" << getShapeX(0) << " " << y;
      for (auto [number, point] : llvm::enumerate(columns)) {
        int64_t top = getShapeY(double(sum(point, category + 1)));
        if (top == y)
          continue;
        page << "H" << getShapeX(number ? double(point) : 0) << "v" << top - y;
        y = top;
      }
      page << "H" << getShapeX(double(countPoints())) << "V" << getShapeY(0) << "z\"><title>" << name
           << "</title></path>\n";
    }
  }

  //===--------------------------------------------------------------------===//
  // Buffers
  //===--------------------------------------------------------------------===//

  /// The largest, by bytes and how long they live.
  std::vector<const LiveBuffer *> chooseBuffers() const {
    constexpr size_t most = 4000;
    std::vector<const LiveBuffer *> buffers;
    for (const LiveBuffer &buffer : profile.buffers)
      buffers.push_back(&buffer);
    auto getArea = [](const LiveBuffer *buffer) {
      return double(buffer->bytes) * double(buffer->end - buffer->begin + 1);
    };
    llvm::stable_sort(buffers,
                      [&](const LiveBuffer *a, const LiveBuffer *b) { return getArea(a) > getArea(b); });
    buffers.resize(std::min(most, buffers.size()));
    return buffers;
  }

  /// Without the number of its layer and of its micro-batch.
  static std::string getKindName(const LiveBuffer &buffer) {
    auto [before, after] = StringRef(buffer.name).split(kMicroBatch);
    return foldLayer(before.str() + after.drop_while(llvm::isDigit).str()).text;
  }

  /// Those that are alike are one shape, which says what they are.
  void drawBuffers(ArrayRef<const LiveBuffer *> buffers) {
    using Key = std::tuple<rank::Category, std::string, std::string, int64_t>;
    std::map<Key, std::vector<const LiveBuffer *>> kinds;
    for (const LiveBuffer *buffer : buffers)
      kinds[{buffer->category, getKindName(*buffer), buffer->type, buffer->bytes}].push_back(buffer);
    for (auto &[key, alike] : kinds) {
      auto &[category, name, type, bytes] = key;
      page << "<path class=\"buffer " << rank::stringifyCategory(category) << "\" d=\"";
      for (const LiveBuffer *buffer : alike)
        drawBuffer(*buffer);
      page << "\"><title>" << rank::stringifyCategory(category) << ": " << escapeHtml(name) << " "
           << escapeHtml(type) << ", ";
      if (alike.size() > 1)
        page << alike.size() << " buffers of ";
      page << formatBytes(bytes) << "</title></path>\n";
    }
  }

  /// With a gap to the next, where there is place for one.
  void drawBuffer(const LiveBuffer &buffer) {
    int64_t x = getShapeX(double(buffer.begin)), y = getShapeY(double(buffer.offset + buffer.bytes));
    int64_t width = getShapeX(double(buffer.end + 1)) - x, depth = getShapeY(double(buffer.offset)) - y;
    auto shrink = [](int64_t size) { return std::max<int64_t>(size > 10 ? size - 3 : size, 3); };
    page << "M" << x << " " << y << "h" << shrink(width) << "v" << shrink(depth) << "h-" << shrink(width)
         << "z";
  }

  const MemoryProfile &profile;
  ArrayRef<TimedAction> actions;
  int64_t limit;
  double height = 0; ///< of the picture that is drawn
  llvm::raw_ostream &page;
};
} // namespace

std::string par::countFromOne(StringRef name) {
  auto [before, after] = name.split(kMicroBatch);
  int64_t number = 0;
  return after.consumeInteger(10, number) ? name.str()
                                          : before.str() + " " + std::to_string(number + 1) + after.str();
}

void par::drawMemory(const MemoryProfile &profile, ArrayRef<TimedAction> actions, int64_t limit,
                     llvm::raw_ostream &page) {
  MemoryPicture(profile, actions, limit, page).run();
}
