//===- EstimateTest.cpp - estimates are near what plans are compiled to ---------------------------------===//
#include "TinyModel.h"
#include "par/Planner/PlanSearch.h"

using namespace mlir;
using namespace mlir::par;

namespace {

struct Case {
  std::string name;
  NamedAxes mesh;
  int64_t microBatches, zero;
  ScheduleKind schedule;
  int64_t chunks;
  bool overlap;
  RecomputeKind recompute;
  Names frozen = {};
  OffloadKind offload = OffloadKind::None;
  TargetKind target = TargetKind::Cpu;
  ChipKind chip = ChipKind::Native;
  bool isGraph = false;
};

Plan makePlan(const Case &given) {
  Plan plan;
  plan.seq = 2048;
  plan.batch = 32;
  plan.dtype = FloatKind::BF16;
  plan.mesh = given.mesh;
  plan.microBatches = given.microBatches;
  plan.zero = given.zero;
  plan.schedule = given.schedule;
  plan.chunks = given.chunks;
  plan.overlap = given.overlap;
  plan.recompute = given.recompute;
  plan.freeze = given.frozen;
  plan.offload = given.offload;
  plan.target = given.target;
  plan.chip = given.chip;
  return plan;
}

/// Weighs and compiles a plan.
class EstimateTest : public ::testing::TestWithParam<Case> {
protected:
  explicit EstimateTest(int64_t hidden = 1024)
      : model(8, hidden, 16384, GetParam().frozen),
        cluster(cantFail(readCluster(PAR_CLUSTERS "dgx-h100.json"))), plan(makePlan(GetParam())),
        workers(cluster, model.getImport(GetParam().isGraph ? plan.getGraphBatch() : 0), 1),
        tables(workers, GetParam().isGraph), estimator(cluster, tables) {}

  void weigh() {
    estimate = estimator.estimate(plan);
    bound = estimator.bound(plan);
    ASSERT_TRUE(estimate && bound);
    plan.cuts = estimate->cuts;
    found = workers.judge(plan);
    ASSERT_TRUE(found);
    peak = static_cast<double>(found->size.getPeak());
  }

  TinyModel model;
  Cluster cluster;
  Plan plan;
  PlanWorkers workers;
  UnitTables tables;
  PlanEstimator estimator;
  std::optional<PlanEstimate> estimate, bound;
  std::optional<FoundPlan> found;
  double peak = 0;
};

TEST_P(EstimateTest, IsNearWhatIsCompiled) {
  ASSERT_NO_FATAL_FAILURE(weigh());
  EXPECT_NEAR(estimate->seconds / found->seconds, 1, 0.1);
  EXPECT_LE(estimate->leastSeconds, 1.01 * found->seconds);
  EXPECT_NEAR(estimate->bytes / peak, 1, 0.08);
  EXPECT_LE(bound->seconds, found->seconds);
  EXPECT_LE(bound->bytes, peak);
}

/// And each on GPUs.
std::vector<Case> onBothTargets(std::vector<Case> cases) {
  for (size_t i = 0, count = cases.size(); i < count; ++i) {
    cases.push_back(cases[i]);
    cases.back().name += "_on_gpus";
    cases.back().target = TargetKind::Cuda;
    cases.back().chip = ChipKind::Sm90;
  }
  return cases;
}

constexpr auto kLine = ScheduleKind::OneFOneB;
constexpr auto kNone = RecomputeKind::None;
const Names kFirstHalf = {"model.embed_tokens.*", "model.layers.[0-3].*"}, kParts = {"*.mlp.*"};
INSTANTIATE_TEST_SUITE_P(
    P, EstimateTest,
    ::testing::ValuesIn(onBothTargets(
        {Case{"one", {{"dp", 1}}, 8, 0, kLine, 1, false, kNone},
         Case{"data", {{"dp", 8}}, 2, 0, kLine, 1, false, kNone},
         Case{"zero1", {{"dp", 8}}, 2, 1, kLine, 1, true, kNone},
         Case{"zero2", {{"dp", 8}}, 2, 2, kLine, 1, false, RecomputeKind::Selective},
         Case{"zero3", {{"dp", 8}}, 2, 3, kLine, 1, true, kNone},
         Case{"tensor", {{"dp", 2}, {"tp", 4}}, 4, 1, kLine, 1, false, kNone},
         Case{"pipeline", {{"pp", 4}, {"dp", 2}}, 16, 0, kLine, 1, false, kNone},
         Case{"full", {{"pp", 2}, {"dp", 2}}, 8, 1, kLine, 1, false, RecomputeKind::Full},
         Case{"interleaved", {{"pp", 2}, {"dp", 2}}, 8, 1, ScheduleKind::Interleaved, 2, false, kNone},
         Case{"overlapped_pipeline", {{"pp", 4}, {"dp", 4}}, 8, 1, kLine, 1, true, kNone},
         Case{"overlapped_chunks", {{"pp", 2}, {"dp", 4}}, 8, 0, ScheduleKind::Interleaved, 2, true, kNone},
         Case{"split", {{"pp", 4}, {"dp", 2}}, 8, 0, ScheduleKind::ZbH1, 1, false, kNone},
         Case{"frozen", {{"dp", 8}}, 2, 1, kLine, 1, false, kNone, kFirstHalf},
         Case{"frozen3", {{"dp", 8}}, 2, 3, kLine, 1, true, kNone, kFirstHalf},
         Case{"frozen_stages", {{"pp", 4}, {"dp", 2}}, 16, 0, kLine, 1, false, kNone, kFirstHalf},
         Case{"frozen_parts", {{"dp", 8}}, 2, 2, kLine, 1, false, kNone, kParts},
         Case{"offload", {{"dp", 8}}, 2, 1, kLine, 1, false, kNone, {}, OffloadKind::DeviceUpdate},
         Case{"offload_alone", {{"dp", 1}}, 2, 0, kLine, 1, true, kNone, {}, OffloadKind::DeviceUpdate},
         Case{"offload_beside", {{"dp", 8}}, 2, 1, kLine, 1, true, kNone, {}, OffloadKind::DeviceUpdate}})),
    [](auto &info) { return info.param.name; });

Case ofGraph(Case given) {
  given.isGraph = true;
  return given;
}
INSTANTIATE_TEST_SUITE_P(
    Graphs, EstimateTest,
    ::testing::Values(ofGraph({"data", {{"dp", 8}}, 2, 1, kLine, 1, false, kNone}),
                      ofGraph({"tensor", {{"dp", 2}, {"tp", 4}}, 4, 1, kLine, 1, false, kNone}),
                      ofGraph({"pipeline", {{"pp", 4}, {"dp", 2}}, 16, 0, kLine, 1, false, kNone})),
    [](auto &info) { return info.param.name; });

// Whether stages wait for messages is asked of their lists: what they sum up to may be too long, the least
// that any schedule takes is not.
using UnevenTest = EstimateTest;
TEST_P(UnevenTest, IsReplayedToWhatIsCompiled) {
  ASSERT_NO_FATAL_FAILURE(weigh());
  EXPECT_LE(estimate->leastSeconds, 1.006 * found->seconds);
  EXPECT_NEAR(estimator.simulate(plan) / found->seconds, 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(
    P, UnevenTest,
    ::testing::Values(
        Case{"a_unit_each", {{"pp", 8}, {"dp", 2}}, 16, 1, kLine, 1, false, kNone, kParts},
        Case{"two_units_each", {{"pp", 4}, {"dp", 2}}, 16, 1, kLine, 1, false, kNone, kParts},
        Case{"split", {{"pp", 4}, {"dp", 2}}, 16, 0, ScheduleKind::ZbH1, 1, false, kNone, kParts},
        Case{"chunks", {{"pp", 2}, {"dp", 2}}, 8, 1, ScheduleKind::Interleaved, 2, false, kNone, kParts}),
    [](auto &info) { return info.param.name; });

// Collectives that run beside a backward pass do so beside a whole one, or beside the part of a split one
// that makes what they send; what is slowed down by longer ones costs nothing more than these.
using OverlappedTest = EstimateTest;
TEST_P(OverlappedTest, IsReplayedToNearlyWhatIsCompiled) {
  ASSERT_NO_FATAL_FAILURE(weigh());
  EXPECT_LE(bound->seconds, found->seconds);
  EXPECT_LE(estimate->leastSeconds, 1.006 * found->seconds);
  EXPECT_NEAR(estimator.simulate(plan) / found->seconds, 1, 0.06);
}

INSTANTIATE_TEST_SUITE_P(
    P, OverlappedTest,
    ::testing::Values(
        Case{"parts", {{"pp", 2}, {"dp", 8}}, 4, 2, ScheduleKind::ZbH1, 1, true, kNone},
        Case{"whole_and_parts", {{"pp", 2}, {"dp", 8}}, 4, 2, ScheduleKind::DualPipeV, 2, true, kNone},
        Case{"longer", {{"pp", 2}, {"dp", 16}}, 2, 3, kLine, 1, true, kNone}),
    [](auto &info) { return info.param.name; });

// Large layers on many ranks are slowed down by what is exchanged beside them, and what an update gathers
// runs beside nothing but the rest of it.
class ExchangedTest : public EstimateTest {
protected:
  ExchangedTest() : EstimateTest(4096) {}
};
TEST_P(ExchangedTest, IsNearerWhatIsCompiled) {
  plan.batch = 512;
  ASSERT_NO_FATAL_FAILURE(weigh());
  EXPECT_LE(bound->seconds, found->seconds);
  EXPECT_NEAR(estimate->seconds / found->seconds, 1, 0.04);
}

INSTANTIATE_TEST_SUITE_P(
    P, ExchangedTest,
    ::testing::Values(Case{"zero1", {{"dp", 64}}, 2, 1, kLine, 1, true, kNone},
                      Case{"zero2", {{"dp", 64}}, 2, 2, kLine, 1, true, kNone},
                      Case{"zero3", {{"dp", 64}}, 2, 3, kLine, 1, true, kNone},
                      Case{"replicas1", {{"dp_replicate", 8}, {"dp_shard", 8}}, 2, 1, kLine, 1, true, kNone},
                      Case{"replicas3", {{"dp_replicate", 8}, {"dp_shard", 8}}, 2, 3, kLine, 1, true, kNone}),
    [](auto &info) { return info.param.name; });

// Messages have places until they are sent, and from when they are received: an action ahead. Of split
// backward passes most memory may be what the first part hands over, at the end of a step; and what it has
// received.
using SplitMemoryTest = EstimateTest;
TEST_P(SplitMemoryTest, CountsWhatIsHandedOver) {
  plan.batch = 8 * plan.microBatches;
  ASSERT_NO_FATAL_FAILURE(weigh());
  double most = splitsBackward(plan.schedule) ? 0.01 : 0.03;
  EXPECT_NEAR(estimate->bytes / peak, 1, most) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(
    P, SplitMemoryTest,
    ::testing::Values(
        Case{"line", {{"pp", 4}, {"tp", 2}}, 16, 0, kLine, 1, false, kNone},
        Case{"recomputed", {{"pp", 4}, {"dp", 2}}, 16, 0, kLine, 1, false, RecomputeKind::Full},
        Case{"interleaved", {{"pp", 2}, {"dp", 2}}, 8, 0, ScheduleKind::Interleaved, 2, false, kNone},
        Case{"v", {{"pp", 4}, {"tp", 2}}, 16, 0, ScheduleKind::ZbV, 2, false, kNone},
        Case{"v_again", {{"pp", 4}, {"tp", 2}}, 16, 0, ScheduleKind::ZbV, 2, false, RecomputeKind::Selective},
        Case{"half", {{"pp", 4}, {"tp", 2}}, 16, 0, ScheduleKind::ZbH1, 1, false, RecomputeKind::Selective}),
    [](auto &info) { return info.param.name; });

} // namespace
