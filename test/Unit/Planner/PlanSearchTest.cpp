//===- PlanSearchTest.cpp - nothing is lost by bounds and estimates
//---------------------------------------===//
#include "par/Planner/PlanSearch.h"
#include "TinyModel.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// A small space: a model, ranks, and memory of a device.
struct Space {
  int64_t layers, ranks, batch;
  double memory; ///< bytes
  bool overlaps; ///< also plans with overlap
};

class PlanSearchTest : public ::testing::TestWithParam<Space> {
protected:
  PlanSearchTest() : model(GetParam().layers, 256, 2048) {
    cluster = cantFail(readCluster(PAR_CLUSTERS "dgx-h100.json"));
    cluster.device.contextBytes = cluster.device.communicatorBytes = 0;
    cluster.device.memoryBytes = GetParam().memory;
    cluster.nodeRanks = 2; // so that links differ
    cluster.links.front().ranks = 2;
    request.ranks = GetParam().ranks;
    request.plan.batch = GetParam().batch;
    request.plan.seq = 128;
    request.plan.dtype = FloatKind::BF16;
    if (!GetParam().overlaps)
      request.pinned.insert("overlap");
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

/// Memory is ample, short of what the quickest plan takes, or short for all but a few.
INSTANTIATE_TEST_SUITE_P(P, PlanSearchTest,
                         ::testing::Values(Space{2, 2, 4, 1e9, true}, Space{2, 4, 4, 60e6, false},
                                           Space{4, 2, 2, 48e6, true}));

} // namespace
