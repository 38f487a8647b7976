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
  for (const char *expected :
       {// Forward of stage 0 from 0 to 1, backward of stage 1 from 4 to 5.
        "<g class=\"forward\">\n<path d=\"M80.0 0h117.0v16h-117.0z\"><title>F1, forward: 1.000 s from 0 "
        "s</title>",
        "<g class=\"backward\">\n<path d=\"M550.0 0h117.0v16h-117.0z\"><title>B1, backward: 1.000 s from "
        "4.000 s</title>",
        // Their micro-batch stands in the middle.
        "<text x=\"138.8\" y=\"12\">1</text>",
        // A message from 1 to 3, below the row.
        "<path class=\"message\" d=\"M197.5 17h234.5v3h-234.5z\">",
        // Stage 0 holds 30 of at most 40 bytes until it goes back at 7, then 20.
        "V30.0H902.5V40.0H1020.0V50.0H1020.0V60.0z",
        // Stage 1: 10 until it goes forward, 40 then, 20 when it goes back, and 10 at last.
        "d=\"M80.0 60.0H80.0V50.0H432.5V20.0H550.0V40.0H667.5V50.0H1020.0V60.0z\"",
        "stage 1: at most 40 bytes live", "<g transform=\"translate(0 70)\">",
        // Round numbers on the axis of 8 s.
        "text-anchor=\"middle\">1 s</text>", "text-anchor=\"middle\">8 s</text>"})
    EXPECT_NE(page.find(expected), std::string::npos) << expected << "\n" << page;
  EXPECT_EQ(page.find("class=\"mark\""), std::string::npos);
}

// Of many micro-batches boxes are too narrow to be pointed at: all of a class are one shape, without numbers.
TEST(StagePicture, NarrowBoxesAreOneShape) {
  PipelineSchedule schedule = llvm::cantFail(buildSchedule("1f1b", {2, 2000, 1}));
  PredictedStep step;
  step.lists = completeStep(schedule, StepParts{false, false});
  step.timeline = llvm::cantFail(replaySchedule(step.lists, {1, 0.5, 0.5, 0.1}));
  std::vector<MemoryProfile> profiles(2, makeProfile(std::vector<int64_t>(step.lists.stages[0].size(), 7)));
  std::string page = drawStages(step, profiles, 0);
  EXPECT_EQ(page.find("F7, forward"), std::string::npos);
  EXPECT_LT(page.size(), 500000u);
}

// A limit is drawn where it can be seen beside what is held.
TEST(StagePicture, LimitsThatAreNearAreDrawn) {
  std::vector<MemoryProfile> profiles(2, makeProfile({10, 30, 30, 30, 20, 40}));
  EXPECT_NE(drawStages(makeStep(), profiles, 80).find("class=\"mark\""), std::string::npos);
  EXPECT_EQ(drawStages(makeStep(), profiles, 4000).find("class=\"mark\""), std::string::npos);
}

} // namespace
