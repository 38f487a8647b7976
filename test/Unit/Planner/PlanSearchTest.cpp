//===- PlanSearchTest.cpp - nothing is lost by bounds and estimates -------------------------------------===//
#include "par/Planner/PlanSearch.h"
#include "TinyModel.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// A small space: a model, ranks, and memory of a device.
struct Space {
  int64_t layers, ranks, batch;
  double memory;       ///< bytes
  bool overlaps;       ///< also plans with overlap
  bool shares = false; ///< two cores, which all ranks share
};

class PlanSearchTest : public ::testing::TestWithParam<Space> {
protected:
  PlanSearchTest() : model(GetParam().layers, 256, 2048) {
    cluster = makeCluster();
    request.ranks = GetParam().ranks;
    request.plan.batch = GetParam().batch;
    request.plan.seq = 128;
    request.plan.dtype = FloatKind::BF16;
    if (!GetParam().overlaps)
      request.pinned.insert("overlap");
  }

  static Cluster makeCluster() {
    Cluster cluster =
        cantFail(readCluster(GetParam().shares ? PAR_CLUSTERS "cpu.json" : PAR_CLUSTERS "dgx-h100.json"));
    if (GetParam().shares)
      return shareOut(cluster, GetParam().ranks);
    cluster.device.contextBytes = cluster.device.communicatorBytes = 0;
    cluster.device.memoryBytes = GetParam().memory;
    cluster.nodeRanks = 2; // so that links differ
    cluster.links.front().ranks = 2;
    return cluster;
  }

  /// Every plan and what makes it smaller, cut as the search cuts it.
  std::vector<Plan> listAll() {
    UnitTables tables(model.context, cluster, model.getImport());
    PlanEstimator estimator(cluster, tables);
    std::vector<Plan> plans, all;
    visitPlans(request, static_cast<int64_t>(tables.getKinds(request.plan).size()),
               [&](const Plan &plan) { plans.push_back(plan); });
    for (size_t i = 0; i < plans.size(); ++i)
      for (Plan &smaller : findSmallerPlans(request, Plan(plans[i])))
        plans.push_back(std::move(smaller));
    for (Plan &plan : plans)
      if (std::optional<PlanEstimate> estimate = estimator.estimate(plan)) {
        plan.cuts = estimate->cuts;
        all.push_back(plan);
      }
    return all;
  }

  TinyModel model;
  Cluster cluster;
  PlanRequest request;
};

TEST_P(PlanSearchTest, FindsTheBestOfAllPlans) {
  PlanSearch search(model.context, cluster, request, model.getImport());
  SearchResult result = search.run(1);
  ASSERT_FALSE(result.plans.empty());
  const FoundPlan &found = result.plans.front();
  EXPECT_LE(static_cast<double>(found.size.getPeak()), search.getUsableBytes(found.plan));
  double best = std::numeric_limits<double>::infinity();
  std::vector<Plan> all = listAll();
  for (const Plan &plan : all) {
    std::optional<FoundPlan> judged = search.judge(plan);
    if (!judged || static_cast<double>(judged->size.getPeak()) > search.getUsableBytes(plan))
      continue;
    best = std::min(best, judged->seconds);
    if (plan == found.plan) {
      EXPECT_EQ(judged->seconds, found.seconds);
      EXPECT_EQ(judged->size.getPeak(), found.size.getPeak());
    }
  }
  EXPECT_EQ(found.seconds, best) << all.size() << " plans";
  // Far fewer are compiled than there are.
  EXPECT_LT(result.compiled, static_cast<int64_t>(all.size()) / 4);
}

// What the answer says that the plan needs in order to fit, it needs: of data parallelism with less memory
// than it takes at its quickest.
using MemoryLeverTest = PlanSearchTest;
TEST_P(MemoryLeverTest, LeversAreNeededToFit) {
  request.plan.mesh = {{"dp", request.ranks}};
  request.pinned.insert({"pp", "dp", "tp", "zero", "micro_batches"});
  SearchResult ample = PlanSearch(model.context, cluster, request, model.getImport()).run(1);
  ASSERT_FALSE(ample.plans.empty());
  EXPECT_TRUE(ample.levers.empty());
  cluster.device.memoryBytes = 0.93 * static_cast<double>(ample.plans.front().size.getPeak());
  PlanSearch search(model.context, cluster, request, model.getImport());
  SearchResult result = search.run(1);
  ASSERT_FALSE(result.plans.empty());
  EXPECT_FALSE(result.levers.empty());
  const FoundPlan &found = result.plans.front();
  for (const MemoryLever &lever : result.levers) {
    std::optional<FoundPlan> without = search.judge(lever.without);
    ASSERT_TRUE(without) << lever.flags;
    EXPECT_LT(without->seconds, found.seconds) << lever.flags;
    // Of small tensors copies take longer than is estimated.
    EXPECT_LE(lever.share, 1 - without->seconds / found.seconds + 0.03) << lever.flags;
    EXPECT_GT(static_cast<double>(without->size.getPeak()), search.getUsableBytes(found.plan)) << lever.flags;
    EXPECT_NEAR(static_cast<double>(without->size.getPeak()) - search.getUsableBytes(found.plan),
                lever.shortBytes, 0.03 * static_cast<double>(without->size.getPeak()))
        << lever.flags;
  }
}

/// Memory is ample, short of what the quickest plan takes, or short for all but a few; ranks share cores.
INSTANTIATE_TEST_SUITE_P(P, PlanSearchTest,
                         ::testing::Values(Space{2, 2, 4, 1e9, true}, Space{2, 4, 4, 60e6, false},
                                           Space{4, 2, 2, 48e6, true}, Space{2, 4, 4, 0, false, true}));
INSTANTIATE_TEST_SUITE_P(P, MemoryLeverTest,
                         ::testing::Values(Space{2, 2, 4, 1e9, true}, Space{2, 4, 4, 1e9, false}));

} // namespace
