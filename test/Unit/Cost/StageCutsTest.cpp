#include "par/Cost/StageCuts.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir::par;

namespace {

std::vector<double> chunkTimes(const std::vector<double> &seconds, std::vector<int64_t> cuts) {
  std::vector<double> times(cuts.size() + 1);
  cuts.push_back(int64_t(seconds.size()));
  for (size_t unit = 0, chunk = 0; unit < seconds.size(); ++unit) {
    while (int64_t(unit) >= cuts[chunk])
      ++chunk;
    times[chunk] += seconds[unit];
  }
  return times;
}

/// The slowest chunk of the best cuts, by trying all.
double leastOfAll(const std::vector<double> &seconds, int64_t chunks, std::vector<int64_t> cuts = {}) {
  if (int64_t(cuts.size()) + 1 == chunks) {
    std::vector<double> times = chunkTimes(seconds, cuts);
    return *std::max_element(times.begin(), times.end());
  }
  double best = 1e30;
  for (int64_t next = cuts.empty() ? 1 : cuts.back() + 1; next < int64_t(seconds.size()); ++next) {
    cuts.push_back(next);
    best = std::min(best, leastOfAll(seconds, chunks, cuts));
    cuts.pop_back();
  }
  return best;
}

TEST(StageCuts, TheSlowestChunkIsAsShortAsCanBe) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    size_t units = 2 + random() % 8;
    int64_t chunks = 1 + int64_t(random() % units);
    std::vector<double> seconds;
    for (size_t unit = 0; unit < units; ++unit)
      seconds.push_back(double(1 + random() % 9));
    std::vector<int64_t> cuts = chooseStageCuts(seconds, chunks);
    ASSERT_EQ(int64_t(cuts.size()) + 1, chunks);
    for (size_t i = 0; i < cuts.size(); ++i)
      ASSERT_GT(cuts[i], i ? cuts[i - 1] : 0);
    std::vector<double> times = chunkTimes(seconds, cuts);
    ASSERT_DOUBLE_EQ(*std::max_element(times.begin(), times.end()), leastOfAll(seconds, chunks));
  }
}

TEST(StageCuts, AmongThoseThatMayBe) {
  auto choose = [](int64_t most) {
    return chooseStageCuts({1, 1, 1, 1, 1, 1}, 3, [most](int64_t chunk, int64_t begin, int64_t end) {
      return chunk > 0 || end - begin <= most;
    });
  };
  EXPECT_EQ(choose(2), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(choose(1), (std::vector<int64_t>{1, 3}));
  EXPECT_FALSE(choose(0).has_value());
}

TEST(StageCuts, WhatIsNotTheSlowestIsEven) {
  // The head takes as long as anything; two of the four layers on each of the other stages, not three and
  // one.
  EXPECT_EQ(chooseStageCuts({1, 1, 1, 1, 10}, 3), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(chooseStageCuts({1, 1, 1, 1}, 4), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_TRUE(chooseStageCuts({1, 2}, 1).empty());
}

} // namespace
