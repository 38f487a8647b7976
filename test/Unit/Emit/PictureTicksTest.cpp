//===- PictureTicksTest.cpp - round numbers on the axes of pictures -------------------------------------===//
#include "par/Emit/PictureTicks.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {

std::vector<std::string> getLabels(const std::vector<PictureTick> &ticks) {
  std::vector<std::string> labels;
  for (const PictureTick &tick : ticks)
    labels.push_back(tick.label);
  return labels;
}

using Labels = std::vector<std::string>;

// Steps are 1, 2 or 5 times a power of ten of the largest unit that is reached.
TEST(PictureTicks, SecondsAreRound) {
  EXPECT_EQ(getLabels(chooseSecondTicks(13.494, 8)),
            (Labels{"0", "2 s", "4 s", "6 s", "8 s", "10 s", "12 s"}));
  EXPECT_EQ(getLabels(chooseSecondTicks(1.2713, 5)), (Labels{"0", "0.5 s", "1 s"}));
  EXPECT_EQ(getLabels(chooseSecondTicks(0.2713, 5)), (Labels{"0", "100 ms", "200 ms"}));
  EXPECT_EQ(getLabels(chooseSecondTicks(3e-4, 5)), (Labels{"0", "100 µs", "200 µs", "300 µs"}));
}

TEST(PictureTicks, BytesAreRoundInTheirUnit) {
  EXPECT_EQ(getLabels(chooseByteTicks(59.42 * 0x1p30, 5)), (Labels{"0", "20 GiB", "40 GiB"}));
  EXPECT_EQ(getLabels(chooseByteTicks(1.3 * 0x1p20, 5)), (Labels{"0", "0.5 MiB", "1 MiB"}));
  EXPECT_EQ(getLabels(chooseByteTicks(7, 5)), (Labels{"0", "2 bytes", "4 bytes", "6 bytes"}));
  EXPECT_EQ(chooseByteTicks(59.42 * 0x1p30, 5)[2].value, 40 * 0x1p30);
}

// The end is a tick where it is round itself, and nothing has one.
TEST(PictureTicks, EndsAreIncluded) {
  EXPECT_EQ(getLabels(chooseSecondTicks(8, 8)).back(), "8 s");
  EXPECT_EQ(getLabels(chooseSecondTicks(0.3, 3)).back(), "300 ms");
  EXPECT_EQ(getLabels(chooseByteTicks(0, 5)), Labels{"0"});
}

} // namespace
