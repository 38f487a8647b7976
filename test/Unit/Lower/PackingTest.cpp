//===- PackingTest.cpp - no two live buffers overlap, peaks near the bound ------------------------------===//
#include "lib/Transforms/Lower/Packing.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir::par;

static bool liveTogether(const Interval &a, const Interval &b) {
  return a.begin <= b.end && b.begin <= a.end;
}

static void expectSound(const std::vector<Interval> &intervals, const Packing &packing, int64_t alignment) {
  int64_t end = 0;
  for (size_t a = 0; a < intervals.size(); ++a) {
    ASSERT_GE(intervals[a].offset, 0);
    EXPECT_EQ(intervals[a].offset % alignment, 0);
    end = std::max(end, intervals[a].offset + intervals[a].bytes);
    for (size_t b = 0; b < a; ++b)
      if (liveTogether(intervals[a], intervals[b]))
        EXPECT_TRUE(intervals[a].offset + intervals[a].bytes <= intervals[b].offset ||
                    intervals[b].offset + intervals[b].bytes <= intervals[a].offset)
            << "intervals " << a << " and " << b << " overlap";
  }
  EXPECT_EQ(packing.peak, end);
  EXPECT_GE(packing.peak, packing.lowerBound);
}

TEST(Packing, RandomIntervals) {
  std::mt19937 random(7);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  double excess = 0; // over the bound
  for (int round = 0; round < 300; ++round) {
    std::vector<Interval> intervals(draw(1, 60));
    for (Interval &interval : intervals) {
      interval.bytes = draw(1, 5000);
      interval.begin = draw(0, 40);
      interval.end = interval.begin + draw(0, 12);
    }
    Packing packing = packIntervals(intervals, 64);
    expectSound(intervals, packing, 64);
    excess += static_cast<double>(packing.peak) / static_cast<double>(packing.lowerBound) - 1;
  }
  EXPECT_LT(excess / 300, 0.02); // one round alone leaves 0.027
}

// The bound is the most bytes live at one point, counted at every point one by one.
TEST(Packing, LowerBoundCountsPoints) {
  std::mt19937 random(11);
  std::vector<Interval> intervals(40);
  for (Interval &interval : intervals) {
    interval.bytes = 1 + random() % 1000;
    interval.begin = random() % 30;
    interval.end = interval.begin + random() % 10;
  }
  int64_t most = 0;
  for (int64_t point = 0; point < 40; ++point) {
    int64_t live = 0;
    for (const Interval &interval : intervals)
      live += interval.begin <= point && point <= interval.end ? interval.bytes : 0;
    most = std::max(most, live);
  }
  EXPECT_EQ(packIntervals(intervals, 1).lowerBound, most);
}

// Buffers that are never live together share bytes; those that touch at one point do not.
TEST(Packing, SharesMemoryOverTime) {
  std::vector<Interval> apart = {{100, 0, 1, -1}, {100, 2, 3, -1}, {64, 4, 4, -1}};
  Packing packing = packIntervals(apart, 64);
  EXPECT_EQ(packing.peak, 100);
  EXPECT_EQ(packing.peak, packing.lowerBound);
  std::vector<Interval> touching = {{100, 0, 2, -1}, {100, 2, 3, -1}};
  EXPECT_EQ(packIntervals(touching, 64).peak, 228); // the second begins at 128
}

// A later, smaller buffer goes into a gap that is wide enough.
TEST(Packing, FillsGaps) {
  std::vector<Interval> intervals = {{256, 0, 1, -1}, {192, 0, 3, -1}, {128, 2, 3, -1}};
  Packing packing = packIntervals(intervals, 64);
  EXPECT_EQ(packing.peak, 448);
  EXPECT_EQ(intervals[2].offset, 0);
}

TEST(Packing, Nothing) {
  std::vector<Interval> none;
  Packing packing = packIntervals(none, 64);
  EXPECT_EQ(packing.peak, 0);
  EXPECT_EQ(packing.lowerBound, 0);
}

// Largest first puts 3 above 2 and 2, which leaves a hole; what lay above the bound then chooses first.
TEST(Packing, TriesOrdersUntilNothingIsLost) {
  std::mt19937 random(3);
  int tight = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    // A packing without gaps, cut up: strips of memory that buffers take one after the other.
    std::vector<Interval> intervals;
    int64_t bound = 0;
    for (int strip = 0; strip < 6; ++strip) {
      int64_t bytes = 64 * (1 + random() % 64);
      bound += bytes;
      for (int64_t begin = 0; begin < 40;) {
        int64_t end = std::min<int64_t>(39, begin + random() % 20);
        intervals.push_back({bytes, begin, end, -1});
        begin = end + 1;
      }
    }
    std::shuffle(intervals.begin(), intervals.end(), random);
    Packing packing = packIntervals(intervals, 64);
    expectSound(intervals, packing, 64);
    EXPECT_EQ(packing.lowerBound, bound);
    EXPECT_LE(packing.peak, bound + bound / 4);
    tight += packing.peak <= bound + bound / 1000;
  }
  EXPECT_GE(tight, kRounds * 9 / 10) << "of " << kRounds;
}
