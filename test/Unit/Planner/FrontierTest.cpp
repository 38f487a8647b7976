//===- FrontierTest.cpp - step time against memory ------------------------------------------------------===//
#include "par/Planner/Frontier.h"
#include "TinyModel.h"

using namespace mlir;
using namespace mlir::par;

namespace {

// The first is the quickest there is. Each is quicker than all that are smaller, and nothing that fits its
// memory is quicker.
TEST(Frontier, GivesUpTimeForMemory) {
  TinyModel model(2, 1024, 4096);
  Cluster cluster = cantFail(readCluster(PAR_CLUSTERS "dgx-h100.json"));
  PlanRequest request;
  request.ranks = 2;
  request.plan.batch = 8;
  request.plan.seq = 512;
  request.plan.dtype = FloatKind::BF16;
  PlanWorkers workers(cluster, model.getImport(), 2);
  std::vector<FoundPlan> frontier = findFrontier(workers, cluster, request, SearchLimits::kNone);
  ASSERT_GE(frontier.size(), 4u);
  EXPECT_EQ(frontier.front().seconds, PlanSearch(workers, cluster, request).run().plans.front().seconds);
  for (size_t i = 1; i < frontier.size(); ++i) {
    EXPECT_LT(frontier[i].size.getPeak(), 0.9 * static_cast<double>(frontier[i - 1].size.getPeak()));
    EXPECT_GE(frontier[i].seconds, frontier[i - 1].seconds);
  }
}

} // namespace
