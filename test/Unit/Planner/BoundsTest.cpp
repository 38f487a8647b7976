//===- BoundsTest.cpp - no bound is above what a plan takes ---------------------------------------------===//
#include "DrawnPlans.h"
#include "TinyModel.h"
#include "par/Compile/PlanFlags.h"
#include "par/Planner/PlanSearch.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::par;

namespace {

/// What is known of a plan before it is compiled, and after.
struct Weighed {
  PlanEstimate family, bound, estimate;
  FoundPlan found;
};

/// Weighs and compiles plans of one model.
class Scales {
public:
  explicit Scales(const DrawnModel &drawn)
      : model(drawn.config, drawn.plan.freeze), cluster(cantFail(readCluster(PAR_CLUSTERS "dgx-h100.json"))),
        workers(cluster, model.getImport(), 1), tables(workers), estimator(cluster, tables) {}

  /// Nothing of plans that par-compile does not take.
  std::optional<Weighed> weigh(Plan plan) {
    std::optional<PlanEstimate> family = estimator.boundFamily(plan, /*anyGroup=*/true);
    std::optional<PlanEstimate> bound = estimator.bound(plan), estimate = estimator.estimate(plan);
    if (!family || !bound || !estimate)
      return std::nullopt;
    plan.cuts = estimate->cuts;
    const std::optional<FoundPlan> &found = workers.judge(plan);
    return found ? std::optional(Weighed{*family, *bound, *estimate, *found}) : std::nullopt;
  }

private:
  TinyModel model;
  Cluster cluster;
  PlanWorkers workers;
  UnitTables tables;
  PlanEstimator estimator;
};

uint64_t getNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// By how much a search takes bounds of memory to be too high (PlanSearch.cpp).
constexpr double kBoundSlack = 1.001;

/// A search drops what does not fit by its bound, and what takes longer than the best.
void expectNoneAbove(const Weighed &plan, const std::string &name) {
  auto peak = static_cast<double>(plan.found.size.getPeak());
  auto host = static_cast<double>(plan.found.size.getHostPeak());
  for (const PlanEstimate &bound : {plan.family, plan.bound}) {
    EXPECT_LE(bound.bytes / kBoundSlack, peak) << name;
    EXPECT_LE(bound.hostBytes, host) << name;
    EXPECT_LE(bound.seconds, plan.found.seconds) << name;
  }
  EXPECT_LE(plan.estimate.hostBytes, host) << name;
}

/// So many plans are of one model, whose import they share.
constexpr uint64_t kPlansOfModel = 20;

// Of random plans of all families, tied or not, none needs less than its bounds say, on the device or the
// host. PAR_BOUNDS_PLANS=2000 looks at more of them, from PAR_BOUNDS_FIRST on; among these are two whose
// longest update depends on where they are cut.
TEST(Bounds, NoneIsAboveWhatIsCompiled) {
  uint64_t first = getNumber("PAR_BOUNDS_FIRST", 700), count = getNumber("PAR_BOUNDS_PLANS", 300);
  uint64_t compiled = 0;
  double estimates = 0; // of what is compiled
  std::optional<Scales> scales;
  std::optional<DrawnModel> model;
  for (uint64_t number = first; number < first + count; ++number) {
    if (!scales || number % kPlansOfModel == 0)
      scales.emplace(model.emplace(number / kPlansOfModel));
    std::optional<Weighed> weighed = scales->weigh(drawPlan(*model, number));
    if (!weighed)
      continue;
    ++compiled;
    estimates += weighed->estimate.bytes / static_cast<double>(weighed->found.size.getPeak());
    expectNoneAbove(*weighed, "PAR_BOUNDS_PLANS=1 PAR_BOUNDS_FIRST=" + std::to_string(number) + ": " +
                                  model->config + " " + printDifference(Plan(), weighed->found.plan));
  }
  EXPECT_GT(compiled, count * 9 / 10);
  EXPECT_NEAR(estimates / static_cast<double>(compiled), 1, 0.03);
}

/// A Llama of which the table is a third, and only memory asks for anything.
Plan makeTiedPlan() {
  Plan plan;
  plan.seq = 64;
  plan.batch = 4;
  plan.dtype = FloatKind::BF16;
  return plan;
}

// Beside overlap the next unit is gathered, too: behind a large table that is a small one.
TEST(Bounds, ALargeTableIsGatheredOnce) {
  Cluster cluster = cantFail(readCluster(PAR_CLUSTERS "dgx-h100.json"));
  TinyModel model(2, 64, 65536);
  PlanWorkers workers(cluster, model.getImport(), 1);
  UnitTables tables(workers);
  PlanEstimator estimator(cluster, tables);
  Plan plan;
  plan.seq = 8;
  plan.batch = 2;
  plan.dtype = FloatKind::BF16;
  plan.mesh = {{"dp", 2}};
  plan.zero = 3;
  plan.overlap = true;
  std::optional<PlanEstimate> bound = estimator.bound(plan), estimate = estimator.estimate(plan);
  const std::optional<FoundPlan> &found = workers.judge(plan);
  ASSERT_TRUE(bound && estimate && found);
  auto peak = static_cast<double>(found->size.getPeak());
  EXPECT_LE(bound->bytes / kBoundSlack, peak);
  EXPECT_LE(estimate->bytes / peak, 1.1);
}

// A tied table has one place on a stage that reads it at both ends, and one on each of two stages: estimates
// are those of the compiled plans, and where a V has both ends on one stage it counts once there.
TEST(Bounds, ATiedTableCountsOncePerStage) {
  Cluster cluster = cantFail(readCluster(PAR_CLUSTERS "dgx-h100.json"));
  TinyModel model(4, 256, 16384, {}, /*isTied=*/true);
  PlanWorkers workers(cluster, model.getImport(), 1);
  UnitTables tables(workers);
  PlanEstimator estimator(cluster, tables);
  for (auto [stages, schedule, chunks] :
       {std::tuple(1, ScheduleKind::OneFOneB, 1), std::tuple(2, ScheduleKind::OneFOneB, 1),
        std::tuple(2, ScheduleKind::ZbV, 2), std::tuple(2, ScheduleKind::DualPipeV, 2)})
    for (OffloadKind offload : {OffloadKind::None, OffloadKind::DeviceUpdate}) {
      Plan plan = makeTiedPlan();
      plan.mesh = {{"dp", 1}};
      if (stages > 1)
        plan.mesh.insert(plan.mesh.begin(), {getAxisName(AxisRole::Pipeline).str(), stages});
      plan.microBatches = 4;
      plan.schedule = schedule;
      plan.chunks = chunks;
      plan.offload = offload;
      std::optional<PlanEstimate> estimate = estimator.estimate(plan);
      ASSERT_TRUE(estimate);
      plan.cuts = estimate->cuts;
      const std::optional<FoundPlan> &found = workers.judge(plan);
      ASSERT_TRUE(found);
      std::string name = (getName(schedule) + " " + getName(offload) + " " + llvm::Twine(stages)).str();
      auto peak = static_cast<double>(found->size.getPeak());
      auto host = static_cast<double>(found->size.getHostPeak());
      if (offload == OffloadKind::None)
        EXPECT_NEAR(estimate->bytes / peak, 1, 0.03) << name;
      else // what is staged of a large table is estimated too small
        EXPECT_NEAR(estimate->hostBytes / host, 1, 0.01) << name;
    }
}

} // namespace
