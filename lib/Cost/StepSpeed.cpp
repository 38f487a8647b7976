//===- StepSpeed.cpp - how quick a step is on a cluster -------------------------------------------------===//
#include "par/Cost/StepSpeed.h"

using namespace mlir::par;

const char *mlir::par::getUnit(const Plan &plan) { return plan.seq ? "tokens" : "rows"; }

StepSpeed mlir::par::getSpeed(const Plan &plan, double seconds, double modelFlops, const Cluster &cluster) {
  const ProductRates &rates = cluster.device.products;
  double peak = plan.dtype == FloatKind::BF16 ? rates.peakBF16 : rates.peakF32;
  int64_t units = plan.seq ? plan.batch * plan.seq : plan.batch;
  return {static_cast<double>(units) / seconds,
          modelFlops / (seconds * peak * static_cast<double>(plan.countRanks()))};
}

/// Communicators of a rank: one for each axis and direction of a pipeline, and the world's.
static int64_t countCommunicators(const Plan &plan) {
  int64_t count = 1;
  for (auto &[name, size] : plan.mesh)
    if (size > 1)
      count += hasRole(name, AxisRole::Pipeline) ? 4 : 1;
  return count;
}

double mlir::par::getUsableBytes(const Plan &plan, const Cluster &cluster) {
  return cluster.getUsableBytes(countCommunicators(plan));
}
