//===- PlainPlanTest.cpp - the plan that has least to it ------------------------------------------------===//
#include "par/Planner/PlainPlan.h"
#include "gtest/gtest.h"

using namespace mlir::par;

namespace {

// Data parallelism and ZeRO over all ranks need no explanation.
TEST(PlainPlan, DataParallelismIsNoMechanism) {
  Plan plan;
  plan.mesh = {{"dp", 8}};
  plan.zero = 3;
  plan.overlap = true;
  EXPECT_EQ(countMechanisms(plan), 0);
}

TEST(PlainPlan, EveryMechanismCounts) {
  Plan plan;
  plan.mesh = {{"pp", 2}, {"dp_replicate", 2}, {"dp_shard", 2}, {"tp", 2}};
  plan.zero = 1;
  plan.schedule = ScheduleKind::ZbH1;
  plan.offload = OffloadKind::DeviceUpdate;
  plan.recompute = RecomputeKind::Full;
  plan.cuts = {3};
  std::vector<llvm::StringRef> all = {"a pipeline",  "a split backward pass", "offloading",
                                      "recomputing", "hybrid sharding",       "tensor parallelism",
                                      "cuts by hand"};
  EXPECT_EQ(listMechanisms(plan), all);
  plan.schedule = ScheduleKind::OneFOneB;
  plan.recompute = RecomputeKind::None;
  EXPECT_EQ(countMechanisms(plan), 5);
}

FoundPlan find(double seconds, NamedAxes mesh) {
  FoundPlan found;
  found.seconds = seconds;
  found.plan.mesh = std::move(mesh);
  return found;
}

// The fewest mechanisms of those that are close to the best; of several the best; none that is farther.
TEST(PlainPlan, IsCloseToTheBest) {
  std::vector<FoundPlan> plans = {find(1.00, {{"pp", 2}, {"dp", 1}, {"tp", 2}}),
                                  find(1.01, {{"pp", 4}, {"dp", 1}}), find(1.015, {{"dp", 2}, {"tp", 2}}),
                                  find(1.05, {{"dp", 4}})};
  EXPECT_EQ(findPlainest(plans, Objective::Time, 0), 0u);
  EXPECT_EQ(findPlainest(plans, Objective::Time, 0.02), 1u);
  EXPECT_EQ(findPlainest(plans, Objective::Time, 0.06), 3u);
}

} // namespace
