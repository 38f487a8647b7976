//===- PlanFitTest.cpp - what would make a plan fit -----------------------------------------------------===//
#include "par/Compile/PlanFit.h"
#include "par/Compile/PlanFlags.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {

Plan makePlan() {
  Plan plan;
  plan.batch = 8;
  plan.seq = 16;
  plan.mesh = {{"dp", 2}};
  return plan;
}

PlanSize makeSize(int64_t peak) {
  PlanSize size;
  size.stages.push_back({peak});
  return size;
}

bool isFree(llvm::StringRef) { return false; }

/// The flags of all that fits.
std::vector<std::string> listSingle(const PlanFit &fit, const Plan &plan) {
  std::vector<std::string> flags;
  for (const MeasuredPlan &found : fit.findSingle())
    flags.push_back(printDifference(plan, found.plan));
  return flags;
}

/// Each step of a lever is taken back to the one before; what is offloaded in whichever way to nothing.
TEST(PlanLevers, AStepBackUndoesAStep) {
  Plan plan = makePlan();
  int undone = 0;
  for (const PlanLever &lever : getPlanLevers()) {
    if (!lever.loosen)
      continue;
    EXPECT_FALSE(lever.loosen(plan)) << lever.name.str();
    Plan before = plan;
    for (const PlanChange &change : lever.tighten(plan)) {
      Plan tighter = plan;
      change(tighter);
      EXPECT_NE(tighter, before) << lever.name.str();
      EXPECT_EQ(lever.loosen(tighter), lever.name == "offload" ? plan : before) << lever.name.str();
      before = tighter;
      ++undone;
    }
  }
  EXPECT_EQ(undone, 7);
}

/// Types of gradients and moments are named where they are enough, and never combined with others unasked.
TEST(PlanFit, DigitsAreNotGivenUpUnasked) {
  Plan plan = makePlan();
  auto measure = [](const Plan &other) {
    int64_t peak = 100 - 10 * other.zero;
    if (other.gradType == FloatKind::BF16)
      peak -= 50;
    return std::optional(makeSize(peak));
  };
  EXPECT_EQ(listSingle(PlanFit(plan, 60, measure, isFree), plan),
            std::vector<std::string>{"--grad-dtype bf16"});
  MeasuredPlan combined = PlanFit(plan, 40, measure, isFree).findCombined(100);
  EXPECT_EQ(printDifference(plan, combined.plan), "--zero 3");
}

/// ZeRO's stages need less each; of those that fit the first is told, and other levers do not help here.
TEST(PlanFit, TheMildestStepThatFitsIsFound) {
  Plan plan = makePlan();
  auto measure = [](const Plan &other) { return std::optional(makeSize(100 - 20 * other.zero)); };
  EXPECT_EQ(listSingle(PlanFit(plan, 60, measure, isFree), plan), std::vector<std::string>{"--zero 2"});
  EXPECT_EQ(listSingle(PlanFit(plan, 40, measure, isFree), plan), std::vector<std::string>{"--zero 3"});
  EXPECT_TRUE(PlanFit(plan, 39, measure, isFree).findSingle().empty());
}

/// A step without a plan is passed over: neither told, nor taken for one that is too large.
TEST(PlanFit, StepsWithoutAPlanArePassedOver) {
  Plan plan = makePlan();
  auto measure = [](const Plan &other) -> std::optional<PlanSize> {
    if (other.zero == 3 || other.zero == 1)
      return std::nullopt;
    return makeSize(100 - 20 * other.zero);
  };
  EXPECT_EQ(listSingle(PlanFit(plan, 60, measure, isFree), plan), std::vector<std::string>{"--zero 2"});
}

/// No remedy proposes what is fixed.
TEST(PlanFit, WhatIsFixedStays) {
  Plan plan = makePlan();
  auto measure = [](const Plan &other) { return std::optional(makeSize(8 / other.microBatches)); };
  EXPECT_EQ(listSingle(PlanFit(plan, 4, measure, isFree), plan),
            std::vector<std::string>{"--micro-batches 2"});
  auto isFixed = [](llvm::StringRef lever) { return lever == "micro_batches"; };
  PlanFit fixed(plan, 4, measure, isFixed);
  EXPECT_TRUE(fixed.findSingle().empty());
  EXPECT_EQ(fixed.findCombined(8).plan, plan);
}

/// Two levers are told where one is not enough, without a third that they make needless.
TEST(PlanFit, NeedlessLeversAreLeftOut) {
  Plan plan = makePlan();
  auto measure = [](const Plan &other) {
    bool isDivided = other.zero == 3, isRunAgain = other.recompute == RecomputeKind::Full;
    return std::optional(makeSize(100 - (isDivided ? 40 : 0) - (isRunAgain ? 40 : 0) -
                                  static_cast<int64_t>(other.microBatches > 1)));
  };
  MeasuredPlan found = PlanFit(plan, 20, measure, isFree).findCombined(100);
  EXPECT_EQ(printDifference(plan, found.plan), "--zero 3 --recompute full");
  EXPECT_EQ(found.peak, 20);
}

/// The least is told where nothing fits.
TEST(PlanFit, TheLeastIsToldWhereNothingFits) {
  Plan plan = makePlan();
  auto measure = [](const Plan &other) { return std::optional(makeSize(100 - 20 * other.zero)); };
  MeasuredPlan found = PlanFit(plan, 10, measure, isFree).findCombined(100);
  EXPECT_EQ(printDifference(plan, found.plan), "--zero 3");
  EXPECT_EQ(found.peak, 40);
}

/// A stage that is within the limit saves all it wants; the other one the most with which it fits, to a
/// thousandth.
TEST(PlanFit, EachStageSavesTheMostThatFits) {
  Plan plan = makePlan();
  plan.recompute = RecomputeKind::Auto;
  auto measure = [](const Plan &other) {
    PlanSize size;
    for (int64_t stage : {0, 1}) {
      int64_t wanted = stage == 0 ? 8000 : 2000; // bytes that are saved without a limit
      int64_t saved = std::min(wanted, other.recomputeLimit.of(stage));
      size.stages.push_back({1000 + saved, saved});
    }
    return std::optional(size);
  };
  StageNumbers limits = PlanFit(plan, 5000, measure, isFree).findRecomputeLimit();
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_LE(limits[0], 4000);
  EXPECT_GE(limits[0], 4000 - 8);
  EXPECT_GE(limits[1], 2000);
}

} // namespace
