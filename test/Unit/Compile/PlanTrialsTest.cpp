//===- PlanTrialsTest.cpp - plans share the modules of what they have in common -------------------------===//
#include "par/Compile/PlanTrials.h"
#include "par/Compile/Driver.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Import/Import.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

class PlanTrialsTest : public testing::Test {
protected:
  PlanTrialsTest() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    plan.seq = 16;
    plan.batch = 8;
    plan.mesh = {{"dp", 2}};
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  PlanTrials makeTrials() {
    return PlanTrials(context, CompilePhase::Import, [this](const Plan &plan) { return import(plan); });
  }

  OwningOpRef<ModuleOp> import(const Plan &plan) {
    ++imports;
    ImportOptions options;
    options.model = PAR_TEST_DIR "/Run/Inputs/gpt2-tiny.json";
    options.seq = plan.seq;
    options.batch = plan.getGraphBatch();
    return importModel(context, options);
  }

  MLIRContext context;
  Plan plan;
  int imports = 0;
};

TEST_F(PlanTrialsTest, DecisionsBehindAPhaseDoNotMatterToIt) {
  Plan other = plan;
  other.recompute = RecomputeKind::Full;
  EXPECT_EQ(restrictTo(plan, CompilePhase::Propagate), restrictTo(other, CompilePhase::Propagate));
  EXPECT_NE(restrictTo(plan, CompilePhase::Partition), restrictTo(other, CompilePhase::Partition));
  // The graph is one micro-batch.
  Plan split = plan;
  split.microBatches = 2;
  EXPECT_NE(restrictTo(plan, CompilePhase::Import), restrictTo(split, CompilePhase::Import));
  split.batch = 16;
  EXPECT_EQ(restrictTo(plan, CompilePhase::Partition), restrictTo(split, CompilePhase::Partition));
  EXPECT_NE(restrictTo(plan, CompilePhase::Lower), restrictTo(split, CompilePhase::Lower));
}

TEST_F(PlanTrialsTest, SharedModulesGiveWhatFreshOnesGive) {
  std::vector<Plan> plans(6, plan);
  plans[1].recompute = RecomputeKind::Full;
  plans[2].offload = OffloadKind::HostUpdate;
  plans[3].zero = 3;
  plans[4].microBatches = 2;
  plans[5].overlap = true;
  PlanTrials together = makeTrials();
  std::vector<int64_t> peaks;
  for (const Plan &each : plans) {
    PlanTrials alone = makeTrials();
    std::optional<PlanSize> fresh = alone.measure(each), shared = together.measure(each);
    ASSERT_TRUE(fresh && shared);
    EXPECT_EQ(fresh->getPeak(), shared->getPeak());
    EXPECT_EQ(fresh->stages[0].saved, shared->stages[0].saved);
    peaks.push_back(shared->getPeak());
  }
  // What plans differ in reaches their sizes (not overlap's: here the peak is elsewhere).
  EXPECT_GE(std::set<int64_t>(peaks.begin(), peaks.end()).size(), 5u);
}

TEST_F(PlanTrialsTest, ATrialMeasuresWhatACompilationGives) {
  plan.zero = 3;
  plan.recompute = RecomputeKind::Selective;
  plan.offload = OffloadKind::DeviceUpdate;
  PlanTrials trials = makeTrials();
  OwningOpRef<ModuleOp> module = import(plan);
  ASSERT_TRUE(succeeded(Driver(plan).run(*module, CompilePhase::Import, CompilePhase::Lower)));
  auto train = rank::findSchedule(*module, rank::Purpose::Train);
  EXPECT_EQ(trials.measure(plan)->getPeak(), static_cast<int64_t>(*train.getPeakBytes()));
}

TEST_F(PlanTrialsTest, TheModelIsImportedOncePerGraph) {
  PlanTrials trials = makeTrials();
  trials.measure(plan);
  EXPECT_EQ(trials.countModules(), 3u);
  plan.offload = OffloadKind::DeviceUpdate;
  trials.measure(plan);
  EXPECT_EQ(trials.countModules(), 3u); // all but lowering is shared
  plan.recompute = RecomputeKind::Selective;
  trials.measure(plan);
  EXPECT_EQ(trials.countModules(), 4u);
  EXPECT_EQ(imports, 1);
  plan.microBatches = 2;
  trials.measure(plan);
  EXPECT_EQ(imports, 2);
}

TEST_F(PlanTrialsTest, WhatContradictsItselfHasNoSize) {
  PlanTrials trials = makeTrials();
  plan.microBatches = 3;
  EXPECT_FALSE(trials.measure(plan).has_value());
  EXPECT_EQ(imports, 0);
}

} // namespace
