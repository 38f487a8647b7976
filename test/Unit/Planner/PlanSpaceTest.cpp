//===- PlanSpaceTest.cpp - the plans that are weighed ---------------------------------------------------===//
#include "par/Compile/CheckPlan.h"
#include "par/Compile/PlanFlags.h"
#include "par/Planner/PlanPins.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {

PlanRequest request(int64_t ranks, int64_t batch) {
  PlanRequest request;
  request.ranks = ranks;
  request.plan.batch = batch;
  return request;
}

std::vector<Plan> list(const PlanRequest &request, int64_t units) {
  std::vector<Plan> plans;
  visitPlans(request, units, [&](const Plan &plan) { plans.push_back(plan); });
  return plans;
}

std::string complain(PlanRequest request, const std::vector<std::string> &pins) {
  return llvm::toString(takePins(request, {}, pins));
}

TEST(PlanSpace, HasEveryPlanOnceAndNoneThatContradictsItself) {
  for (int64_t ranks : {1, 6, 8}) {
    std::vector<Plan> plans = list(request(ranks, 24), 10);
    for (size_t i = 0; i < plans.size(); ++i) {
      EXPECT_EQ(plans[i].countRanks(), ranks);
      EXPECT_FALSE(checkPlan(plans[i], PlanWords(), false));
      EXPECT_FALSE(checkBatch(plans[i], PlanWords()));
      Plan settled = plans[i];
      EXPECT_TRUE(dropIdle(settled).empty());
      for (size_t j = 0; j < i; ++j)
        EXPECT_FALSE(plans[i] == plans[j]);
    }
  }
}

TEST(PlanSpace, OneRankHasMicroBatchesAlone) {
  EXPECT_EQ(list(request(1, 12), 5).size(), 6u); // 1, 2, 3, 4, 6 and 12
}

TEST(PlanSpace, StagesAreNoMoreThanUnits) {
  for (const Plan &plan : list(request(8, 8), 3))
    EXPECT_LE(plan.countStages() * plan.chunks, 3);
}

TEST(PlanSpace, WhatIsPinnedStays) {
  PlanRequest pinned = request(8, 16);
  EXPECT_EQ(complain(pinned, {}), "");
  ASSERT_FALSE(
      takePins(pinned, {}, {"tp=2", "zero=1", "recompute=full", "sequence-parallel=on", "micro-batches=2"}));
  std::vector<Plan> plans = list(pinned, 10);
  EXPECT_FALSE(plans.empty());
  for (const Plan &plan : plans) {
    EXPECT_EQ(plan.getAxis("tp"), 2);
    EXPECT_EQ(plan.zero, 1);
    EXPECT_EQ(plan.recompute, RecomputeKind::Full);
    EXPECT_TRUE(plan.sequenceParallel);
    EXPECT_EQ(plan.microBatches, 2);
  }
}

TEST(PlanSpace, BadPinsAreNamed) {
  PlanRequest any = request(8, 16);
  EXPECT_EQ(complain(any, {"dq=2"}), "--pin dq=2: unknown key 'dq', expected pp, dp, dp_shard, tp, overlap, "
                                     "micro-batches, zero, sequence-parallel, "
                                     "zero3-gather, recompute, offload, schedule, chunks, cuts");
  EXPECT_EQ(complain(any, {"zero"}), "--pin zero is no key=value");
  EXPECT_EQ(complain(any, {"zero=4"}), "--pin zero=4: --zero is '4', expected 0|1|2|3");
  EXPECT_EQ(complain(any, {"tp=0"}), "--pin tp=0 is '0', expected a number of ranks");
  EXPECT_EQ(complain(any, {"tp=2", "tp=4"}), "--pin tp=4 is pinned twice; give --pin tp or --mesh once");
  EXPECT_EQ(complain(any, {"tp=3"}),
            "--ranks 8: the pinned axes dp=1,tp=3 are of 3 ranks; give a multiple of that, "
            "or pin less");
  EXPECT_EQ(complain(any, {"pp=2", "dp=2", "tp=1"}),
            "--ranks 8: the pinned axes pp=2,dp=2,tp=1 are of 4 ranks; give as many, or pin less");
}

/// Groups of 16 ranks, of which two are of a tensor-parallel group, on nodes of 8.
TEST(PlanSpace, GroupsLieWithinNodesOrFillThem) {
  PlanRequest any = request(32, 64);
  Plan plan = any.plan;
  plan.mesh = {{"dp", 16}, {"tp", 2}};
  EXPECT_EQ(listGroups(any, 8, plan).size(), 1u); // ZeRO divides nothing
  plan.zero = 1;
  std::vector<std::string> meshes;
  for (const Plan &group : listGroups(any, 8, plan))
    meshes.push_back(printMesh(group.mesh));
  EXPECT_EQ(meshes,
            (std::vector<std::string>{"dp=16,tp=2", "dp_replicate=8,dp_shard=2,tp=2",
                                      "dp_replicate=4,dp_shard=4,tp=2", "dp_replicate=2,dp_shard=8,tp=2"}));
  any.pinned.insert("dp_shard");
  EXPECT_EQ(listGroups(any, 8, plan).size(), 1u);
}

TEST(PlanSpace, GroupsThatArePinnedStay) {
  PlanRequest pinned = request(8, 16);
  cantFail(takePins(pinned, {}, {"dp_shard=2", "tp=1"}));
  std::vector<Plan> plans = list(pinned, 1);
  EXPECT_FALSE(plans.empty());
  for (const Plan &plan : plans)
    EXPECT_EQ(printMesh(plan.mesh), "dp_replicate=4,dp_shard=2");
  EXPECT_EQ(complain(request(8, 16), {"dp=4", "dp_shard=3"}),
            "--pin dp_shard=3: does not divide dp=4; give a divisor, or pin less");
}

TEST(PlanSpace, GroupsOfOneRankAreDividedNoFurther) {
  PlanRequest pinned = request(8, 16);
  cantFail(takePins(pinned, {}, {"dp_shard=1", "tp=1", "pp=1"}));
  std::vector<Plan> plans = list(pinned, 1);
  EXPECT_FALSE(plans.empty());
  for (const Plan &plan : plans)
    EXPECT_EQ(plan.zero, 0);
  EXPECT_EQ(
      complain(request(8, 16), {"dp_shard=1", "zero=2"}),
      "--zero 2 divides state over dp_shard, but dp_shard is pinned to 1; give a larger one or --zero 0, "
      "or pin less");
}

/// Whatever is pinned, and whether it makes sense: there is an error, or every plan is one that par-compile
/// takes.
TEST(PlanSpace, PinsThatContradictLeaveNoPlan) {
  const std::vector<std::vector<std::string>> choices = {
      {"", "pp=1", "pp=2", "pp=8"},
      {"", "schedule=1f1b", "schedule=interleaved-1f1b", "schedule=zb-v", "schedule=gpipe"},
      {"", "chunks=0", "chunks=1", "chunks=2", "chunks=3"},
      {"", "cuts=0", "cuts=1", "cuts=1,2,3", "cuts=99"},
      {"", "micro-batches=0", "micro-batches=3", "micro-batches=4"},
      {"", "zero=1", "zero=3"},
      {"", "zero3-gather=per-step"}};
  std::vector<size_t> at(choices.size());
  int64_t found = 0;
  for (bool isOver = false; !isOver;) {
    std::vector<std::string> pins;
    for (size_t i = 0; i < at.size(); ++i)
      if (!choices[i][at[i]].empty())
        pins.push_back(choices[i][at[i]]);
    PlanRequest pinned = request(8, 24);
    if (llvm::Error error = takePins(pinned, {}, pins))
      llvm::consumeError(std::move(error));
    else
      for (const Plan &plan : list(pinned, 9)) {
        ++found;
        EXPECT_EQ(llvm::toString(checkPlan(plan, PlanWords(), false)), "");
        EXPECT_EQ(llvm::toString(checkBatch(plan, PlanWords())), "");
        EXPECT_TRUE(plan.cuts.empty() || plan.cuts.back() < 9);
      }
    isOver = true;
    for (size_t i = 0; i < at.size() && isOver; ++i) {
      at[i] = (at[i] + 1) % choices[i].size();
      isOver = at[i] == 0;
    }
  }
  EXPECT_GT(found, 0);
}

/// Pins that go together in some plan are not refused before it is looked for.
TEST(PlanSpace, PinsOfAnyPlanAreAccepted) {
  for (const Plan &plan : list(request(4, 12), 6)) {
    std::vector<std::string> all = {"schedule=" + getName(plan.schedule).str(),
                                    "chunks=" + std::to_string(plan.chunks),
                                    "zero=" + std::to_string(plan.zero),
                                    "zero3-gather=" + getName(plan.zero3Gather).str(),
                                    "micro-batches=" + std::to_string(plan.microBatches),
                                    "pp=" + std::to_string(plan.countStages())};
    for (unsigned some = 0; some < 1u << all.size(); ++some) {
      std::vector<std::string> pins;
      for (size_t i = 0; i < all.size(); ++i)
        if (some >> i & 1)
          pins.push_back(all[i]);
      EXPECT_EQ(complain(request(4, 12), pins), "") << llvm::join(pins, " ");
    }
  }
}

/// Offloading is tried with everything that is too large without; nothing is reached twice.
TEST(PlanSpace, SmallerPlansAreAllReachedOnce) {
  PlanRequest any = request(8, 16);
  std::vector<Plan> reached = {any.plan};
  for (size_t i = 0; i < reached.size(); ++i)
    for (const Plan &smaller : findSmallerPlans(any, Plan(reached[i])))
      reached.push_back(smaller);
  EXPECT_EQ(reached.size(), 9u); // each offloaded with overlap and without
  for (size_t i = 0; i < reached.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(reached[i] == reached[j]);
}

/// Copies of a rank alone can be hidden, and nothing else of it.
TEST(PlanSpace, OverlapIsWeighedWhereSomethingCanBeHidden) {
  auto overlaps = [](const PlanRequest &asked, const Plan &plan) {
    std::set<bool> found;
    for (const Plan &smaller : findSmallerPlans(asked, plan))
      if (smaller.offload != OffloadKind::None)
        found.insert(smaller.overlap);
    return found;
  };
  PlanRequest alone = request(1, 8), eight = request(8, 16);
  for (const Plan &plan : list(alone, 1))
    EXPECT_FALSE(plan.overlap);
  EXPECT_EQ(overlaps(alone, alone.plan), (std::set<bool>{false, true}));
  // The plan with overlap is weighed by itself.
  Plan data = eight.plan;
  data.mesh = {{"dp", 8}};
  EXPECT_EQ(overlaps(eight, data), (std::set<bool>{false}));
  alone.plan.offload = OffloadKind::DeviceUpdate;
  alone.pinned.insert("offload");
  EXPECT_TRUE(llvm::any_of(list(alone, 1), [](const Plan &plan) { return plan.overlap; }));
}

} // namespace
