#include "measure/Measure.h"

#include <algorithm>
#include <chrono>

namespace par::measure {

using Clock = std::chrono::steady_clock;

static double timeRuns(const std::function<void()> &body, int64_t runs) {
  Clock::time_point begin = Clock::now();
  for (int64_t run = 0; run < runs; ++run)
    body();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double measureSeconds(const std::function<void()> &body) {
  constexpr double least = 0.01;
  constexpr int samples = 3; // whoever wants to be sure measures several rounds
  body();                    // what it touches for the first time
  int64_t runs = 1;
  double total = timeRuns(body, runs);
  while (total < least) {
    runs = std::max(runs + 1, int64_t(double(runs) * std::min(16.0, 1.2 * least / std::max(total, 1e-9))));
    total = timeRuns(body, runs);
  }
  std::vector<double> seconds = {total};
  while (seconds.size() < samples)
    seconds.push_back(timeRuns(body, runs));
  std::nth_element(seconds.begin(), seconds.begin() + samples / 2, seconds.end());
  return seconds[samples / 2] / double(runs);
}

} // namespace par::measure
