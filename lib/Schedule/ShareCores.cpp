//===- ShareCores.cpp - timelines of stages that share cores --------------------------------------------===//
#include "par/Schedule/Timeline.h"

#include <algorithm>
#include <map>

using namespace mlir::par;

/// Not sums, which wait, nor parts of messages.
static bool computes(const TimedAction &timed) {
  return !isSum(timed.action.kind) && !getMessage(timed.action);
}

namespace {
/// Where the points of the time of stages with cores of their own lie.
class StretchedTime {
public:
  StretchedTime(const Timeline &timeline, double ranksPerCore) {
    std::map<double, int64_t> changes = {{0, 0}};
    for (const std::vector<TimedAction> &actions : timeline.stages)
      for (const TimedAction &timed : actions)
        if (computes(timed))
          ++changes[timed.begin], --changes[timed.end];
    double perStage = ranksPerCore / static_cast<double>(timeline.stages.size()), now = 0, stretched = 0;
    int64_t active = 0;
    for (auto [point, change] : changes) {
      stretched += (point - now) * std::max(1.0, static_cast<double>(active) * perStage);
      now = point;
      active += change;
      points.emplace_back(now, stretched);
    }
  }

  /// Between two points it goes straight, behind the last as it was.
  double at(double time) const {
    auto right = std::lower_bound(points.begin(), points.end(), std::pair(time, 0.0),
                                  [](auto &a, auto &b) { return a.first < b.first; });
    if (right == points.end())
      return points.back().second + time - points.back().first;
    if (right->first == time || right == points.begin())
      return right->second;
    auto left = std::prev(right);
    double part = (time - left->first) / (right->first - left->first);
    return left->second + part * (right->second - left->second);
  }

private:
  std::vector<std::pair<double, double>> points;
};
} // namespace

void mlir::par::shareCores(Timeline &timeline, double ranksPerCore) {
  StretchedTime time(timeline, ranksPerCore);
  timeline.work = timeline.longestSpan = 0;
  for (std::vector<TimedAction> &actions : timeline.stages) {
    for (TimedAction &timed : actions) {
      timed = {timed.action, time.at(timed.begin), time.at(timed.end)};
      if (computes(timed))
        timeline.work += (timed.end - timed.begin) / static_cast<double>(timeline.stages.size());
    }
    if (!actions.empty())
      timeline.longestSpan = std::max(timeline.longestSpan, actions.back().end - actions.front().begin);
  }
  for (TimedMessage &message : timeline.messages)
    message = {message.send, message.receive, time.at(message.begin), time.at(message.end)};
  timeline.end = time.at(timeline.end);
}
