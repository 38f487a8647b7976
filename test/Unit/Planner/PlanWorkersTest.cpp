//===- PlanWorkersTest.cpp - threads that compile plans -------------------------------------------------===//
#include "par/Planner/PlanWorkers.h"
#include "TinyModel.h"

#include <atomic>

using namespace mlir::par;

namespace {
// Few or many numbers, on any number of threads: each is seen once, and all are when the call is over.
TEST(PlanWorkersTest, EachNumberIsSeenOnce) {
  Cluster cluster;
  for (int64_t threads : {1, 2, 4}) {
    PlanWorkers workers(
        cluster, [](mlir::MLIRContext &, const Plan &) { return mlir::OwningOpRef<mlir::ModuleOp>(); },
        threads);
    for (int64_t count : {0, 1, 31, 32, 33, 1000, 10007}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      workers.forEach(count, [&](int64_t number) { ++seen[static_cast<size_t>(number)]; });
      for (auto &times : seen)
        ASSERT_EQ(times, 1) << count << " numbers on " << threads << " threads";
    }
  }
}
} // namespace
