//===- StagePictureTest.cpp - what stages do and hold over time, drawn ----------------------------------===//
#include "par/Emit/StagePicture.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

/// Two stages for 8 s: forward and back take 1 s each, messages 2 s.
PredictedStep makeStep() {
  PipelineSchedule schedule = llvm::cantFail(buildSchedule("1f1b", {2, 1, 1}));
  PredictedStep step;
  step.lists = completeStep(schedule, StepParts{false, false});
  step.timeline = llvm::cantFail(replaySchedule(step.lists, {1, 0.5, 0.5, 2}));
  return step;
}

/// Every entry has one point; what is live there is given.
MemoryProfile makeProfile(std::vector<int64_t> live) {
  MemoryProfile profile;
  for (auto [point, bytes] : llvm::enumerate(live)) {
    profile.points.push_back("point");
    profile.entries.push_back({int64_t(point), int64_t(point)});
    rank::CategoryBytes categories{};
    categories[0] = bytes;
    profile.live.push_back(categories);
    profile.mostLive = std::max(profile.mostLive, bytes);
  }
  return profile;
}

// The lists are rB1 F1 sF1 RB1 B1 SF1 and rF1 RF1 F1 B1 sB1 SB1. A second is 117.5 wide, from 80 on.
TEST(StagePicture, ActionsAndBytesStandAtTheirTimes) {
  PredictedStep step = makeStep();
  ASSERT_EQ(step.timeline.end, 8);
  std::string page =
      drawStages(step, {makeProfile({10, 30, 30, 30, 20, 10}), makeProfile({10, 10, 40, 20, 10, 10})}, 0);
  for (
      const char *expected :
      {// Forward of stage 0 from 0 to 1, backward of stage 1 from 4 to 5.
       R"(<rect class="action forward" x="80.00" y="0.0" width="117.00")",
       R"(<rect class="action backward" x="550.00" y="70.0" width="117.00")",
       // Stage 0 holds 30 of at most 40 bytes until it goes back at 7, then 20.
       R"(80.00,27.00 902.50,27.00 902.50,38.00 1020.00,38.00)",
       // Stage 1: 10 until it goes forward, 40 then, 20 when it goes back, and 10 at last.
       R"(80.00,119.00 432.50,119.00 432.50,86.00 550.00,86.00 550.00,108.00 667.50,108.00 667.50,119.00 1020.00,119.00)",
       "stage 1: at most 40 bytes live"})
    EXPECT_NE(page.find(expected), std::string::npos) << expected << "\n" << page;
  EXPECT_EQ(page.find("class=\"mark\""), std::string::npos);
}

// A limit is drawn where it can be seen beside what is held.
TEST(StagePicture, LimitsThatAreNearAreDrawn) {
  std::vector<MemoryProfile> profiles(2, makeProfile({10, 30, 30, 30, 20, 40}));
  EXPECT_NE(drawStages(makeStep(), profiles, 80).find("class=\"mark\""), std::string::npos);
  EXPECT_EQ(drawStages(makeStep(), profiles, 4000).find("class=\"mark\""), std::string::npos);
}

} // namespace
