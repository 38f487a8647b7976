//===- PlanSearchTest.cpp - nothing is lost by bounds and estimates -------------------------------------===//
#include "par/Planner/PlanSearch.h"
#include "TinyModel.h"
#include "par/Planner/PlainPlan.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// A small space: a model and ranks.
struct Space {
  int64_t layers, ranks, batch;
  bool overlaps;       ///< also plans with overlap
  bool shares = false; ///< two cores, which all ranks share
  Names frozen = {};
  bool isTied = false; ///< with a large table
};

class PlanSearchTest : public ::testing::TestWithParam<Space> {
protected:
  PlanSearchTest()
      : model(GetParam().layers, 2048, GetParam().isTied ? 32768 : 4096, GetParam().frozen,
              GetParam().isTied),
        cluster(makeCluster()), workers(cluster, model.getImport(), 2) {
    request.ranks = GetParam().ranks;
    request.plan.batch = GetParam().batch;
    request.plan.seq = 2048;
    request.plan.dtype = FloatKind::BF16;
    request.plan.freeze = GetParam().frozen;
    request.plan.target = cluster.target;
    request.plan.chip = GetParam().shares ? ChipKind::Native : ChipKind::Sm90;
    request.hasHost = !GetParam().shares;
    if (!GetParam().overlaps)
      request.pinned.insert("overlap");
  }

  static Cluster makeCluster() {
    Cluster cluster =
        cantFail(readCluster(GetParam().shares ? PAR_CLUSTERS "cpu.json" : PAR_CLUSTERS "dgx-h100.json"));
    if (GetParam().shares)
      return shareOut(cluster, GetParam().ranks);
    cluster.device.contextBytes = cluster.device.communicatorBytes = 0;
    cluster.device.memoryBytes = 1e12; // ample
    cluster.nodeRanks = 2;             // so that links differ
    cluster.links.front().ranks = 2;
    return cluster;
  }

  /// Every plan and what makes it smaller, cut as the search cuts it.
  std::vector<Plan> listAll() {
    UnitTables tables(workers);
    PlanEstimator estimator(cluster, tables);
    std::vector<Plan> plans, all;
    visitPlans(request, static_cast<int64_t>(tables.getKinds(request.plan).size()), [&](const Plan &plan) {
      llvm::append_range(plans, listGroups(request, cluster.nodeRanks, plan));
    });
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
  PlanWorkers workers;
  PlanRequest request;
};

/// What all plans take that compile.
class AllPlans {
public:
  AllPlans(PlanWorkers &workers, const std::vector<Plan> &plans) {
    for (const Plan &plan : plans)
      workers.expectJudgement(plan);
    for (const Plan &plan : plans)
      if (const std::optional<FoundPlan> &found = workers.judge(plan))
        judged.push_back(*found);
    llvm::sort(judged,
               [](const FoundPlan &left, const FoundPlan &right) { return getPeak(left) < getPeak(right); });
  }

  static double getPeak(const FoundPlan &found) { return static_cast<double>(found.size.getPeak()); }
  /// Bytes in which this share of the plans fits, at least one.
  double getBytes(double share) const {
    return getPeak(judged[static_cast<size_t>(share * static_cast<double>(judged.size() - 1))]);
  }
  /// The shortest step of those that fit.
  double getLeastSeconds(double usableBytes) const {
    double least = SearchLimits::kNone;
    for (const FoundPlan &found : judged)
      if (getPeak(found) <= usableBytes)
        least = std::min(least, found.seconds);
    return least;
  }
  /// Of those that run nothing again and offload nothing, which is for plans that do not fit; the shortest
  /// first.
  std::vector<double> listSeconds() const {
    std::vector<double> seconds;
    for (const FoundPlan &found : judged)
      if (found.plan.recompute == RecomputeKind::None && found.plan.offload == OffloadKind::None)
        seconds.push_back(found.seconds);
    llvm::sort(seconds);
    return seconds;
  }
  /// The fewest mechanisms of those that are at most so much behind the best.
  int64_t countFewestMechanisms(double within) const {
    int64_t fewest = std::numeric_limits<int64_t>::max();
    for (const FoundPlan &found : judged)
      if (found.seconds <= getLeastSeconds(SearchLimits::kNone) * (1 + within))
        fewest = std::min(fewest, countMechanisms(found.plan));
    return fewest;
  }
  int64_t count() const { return static_cast<int64_t>(judged.size()); }

private:
  std::vector<FoundPlan> judged; ///< smallest first
};

/// Of a list of plans, the others are the next best ones, as far as a dozen compilations say.
static void expectNextBest(PlanSearch &search, const AllPlans &all) {
  SearchLimits limits;
  limits.top = 4;
  SearchResult result = search.run(limits);
  for (auto [found, seconds] : llvm::zip_first(ArrayRef(result.plans).take_front(4), all.listSeconds()))
    EXPECT_LE(found.seconds, 1.002 * seconds);
}

/// Memory is ample, or holds a part of the plans, or the smallest alone.
static void expectBest(PlanSearch &search, const AllPlans &all) {
  for (double share : {1.0, 0.8, 0.6, 0.4, 0.2}) {
    SearchLimits limits;
    limits.usableBytes = all.getBytes(share);
    SearchResult result = search.run(limits);
    ASSERT_FALSE(result.plans.empty()) << share;
    const FoundPlan &found = result.plans.front();
    EXPECT_LE(AllPlans::getPeak(found), *limits.usableBytes);
    EXPECT_EQ(found.seconds, all.getLeastSeconds(*limits.usableBytes)) << share << " of " << all.count();
  }
}

/// What is plainer and close enough is found beside the best, however close that is.
static void expectPlainest(PlanSearch &search, const AllPlans &all) {
  for (double within : {0.003, 0.01, 0.03, 0.1, 0.3}) {
    SearchLimits limits;
    limits.plainerWithin = within;
    SearchResult result = search.run(limits);
    const FoundPlan &plainest = result.plans[findPlainest(result.plans, Objective::Time, within)];
    EXPECT_LE(plainest.seconds, (1 + within) * result.plans.front().seconds) << within;
    EXPECT_EQ(countMechanisms(plainest.plan), all.countFewestMechanisms(within)) << within;
  }
}

TEST_P(PlanSearchTest, FindsTheBestOfAllPlans) {
  AllPlans all(workers, listAll());
  PlanSearch search(workers, cluster, request);
  expectNextBest(search, all);
  expectPlainest(search, all);
  expectBest(search, all);
  EXPECT_LT(search.run().compiled, all.count() / 4); // far fewer than there are
  request.objective = Objective::Memory;
  SearchResult smallest = PlanSearch(workers, cluster, request).run();
  ASSERT_FALSE(smallest.plans.empty());
  EXPECT_EQ(AllPlans::getPeak(smallest.plans.front()), all.getBytes(0));
}

// Of many more spaces, in which plans are few.
using SmallSpaceTest = PlanSearchTest;
TEST_P(SmallSpaceTest, FindsTheBestOfAllPlans) {
  AllPlans all(workers, listAll());
  PlanSearch search(workers, cluster, request);
  expectBest(search, all);
}

// A search that has compiled as many as it may says what it leaves open, unless nothing can be better.
TEST_P(PlanSearchTest, TheCapSaysWhatItLeavesOpen) {
  SearchLimits limits;
  limits.top = 4;
  limits.mostCompiled = 1;
  SearchResult capped = PlanSearch(workers, cluster, request).run(limits);
  ASSERT_EQ(capped.plans.size(), 1u);
  EXPECT_TRUE(capped.isCutShort);
  double best = PlanSearch(workers, cluster, request).run().plans.front().seconds;
  EXPECT_EQ(capped.end == SearchEnd::Cap, capped.bound.has_value());
  if (capped.end == SearchEnd::Cap) {
    EXPECT_LE(*capped.bound, best);
    EXPECT_LE(*capped.bound, capped.plans.front().seconds);
  } else {
    EXPECT_EQ(capped.plans.front().seconds, best);
  }
}

// State that a host has no room for is not offloaded; of a device that is a part of the host, no state is.
TEST_P(PlanSearchTest, HostsHaveRoomForWhatIsOffloaded) {
  request.objective = Objective::Memory;
  FoundPlan smallest = PlanSearch(workers, cluster, request).run().plans.front();
  EXPECT_EQ(smallest.plan.offload == OffloadKind::None, GetParam().shares);
  auto ranks = static_cast<double>(std::min(cluster.nodeRanks, request.ranks));
  EXPECT_LE(ranks * static_cast<double>(smallest.size.getHostPeak()), cluster.host.memoryBytes);
  cluster.host.memoryBytes = 1;
  SearchResult result = PlanSearch(workers, cluster, request).run();
  ASSERT_FALSE(result.plans.empty());
  EXPECT_EQ(result.plans.front().plan.offload, OffloadKind::None);
}

// How many threads search, and what they happen to do first, does not show.
TEST_P(PlanSearchTest, FindsTheSameOnAnyNumberOfThreads) {
  std::vector<Plan> first;
  for (int64_t threads : {1, 2, 4}) {
    PlanWorkers others(cluster, model.getImport(), threads);
    SearchLimits limits;
    limits.top = 5;
    SearchResult result = PlanSearch(others, cluster, request).run(limits);
    std::vector<Plan> plans;
    for (const FoundPlan &found : result.plans)
      plans.push_back(found.plan);
    ASSERT_GE(plans.size(), 5u);
    if (first.empty())
      first = plans;
    EXPECT_EQ(plans, first) << threads << " threads";
  }
}

// What the answer says that the plan needs in order to fit, it needs: of data parallelism with less memory
// than it takes at its quickest.
using MemoryLeverTest = PlanSearchTest;
TEST_P(MemoryLeverTest, LeversAreNeededToFit) {
  request.plan.mesh = {{"dp", request.ranks}};
  request.pinned.insert({"pp", "dp", "tp", "zero", "micro_batches"});
  SearchResult ample = PlanSearch(workers, cluster, request).run();
  ASSERT_FALSE(ample.plans.empty());
  EXPECT_TRUE(ample.levers.empty());
  cluster.device.memoryBytes = 0.93 * static_cast<double>(ample.plans.front().size.getPeak());
  PlanSearch search(workers, cluster, request);
  SearchResult result = search.run();
  ASSERT_FALSE(result.plans.empty());
  EXPECT_FALSE(result.levers.empty());
  const FoundPlan &found = result.plans.front();
  for (const MemoryLever &lever : result.levers) {
    std::optional<FoundPlan> without = workers.judge(lever.without);
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

// What is pinned may be more than the plan needs.
TEST_P(MemoryLeverTest, NothingIsNeededWhereAllFits) {
  request.plan.recompute = RecomputeKind::Full;
  request.pinned.insert("recompute");
  SearchResult result = PlanSearch(workers, cluster, request).run();
  ASSERT_FALSE(result.plans.empty());
  EXPECT_EQ(result.plans.front().plan.recompute, RecomputeKind::Full);
  EXPECT_TRUE(result.levers.empty()) << result.levers.front().flags;
}

INSTANTIATE_TEST_SUITE_P(P, PlanSearchTest,
                         ::testing::Values(Space{2, 2, 4, true}, Space{2, 4, 4, false}, Space{4, 2, 2, true},
                                           Space{2, 4, 4, false, true},
                                           Space{
                                               4, 2, 2, true, false, {"model.embed*", "model.layers.[01].*"}},
                                           Space{2, 4, 4, false, false, {"*.mlp.*"}}));
INSTANTIATE_TEST_SUITE_P(P, SmallSpaceTest,
                         ::testing::Values(Space{1, 1, 2, true}, Space{2, 1, 4, true}, Space{3, 1, 3, true},
                                           Space{1, 2, 2, true}, Space{2, 2, 2, true}, Space{3, 2, 4, false},
                                           Space{5, 2, 2, false}, Space{1, 3, 3, true}, Space{2, 3, 3, false},
                                           Space{3, 3, 6, false}, Space{1, 4, 4, false}, Space{1, 5, 5, true},
                                           Space{2, 1, 4, true, true}, Space{2, 2, 2, false, true},
                                           Space{2, 2, 2, false, false, {"model.layers.0.*"}},
                                           Space{2, 1, 4, true, false, {}, true},
                                           Space{3, 2, 2, true, false, {}, true},
                                           Space{2, 2, 2, false, false, {"model.embed_tokens.*"}, true}));
INSTANTIATE_TEST_SUITE_P(P, MemoryLeverTest, ::testing::Values(Space{2, 2, 4, true}, Space{2, 4, 4, false}));

} // namespace
