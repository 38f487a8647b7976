//===- OwnSteps.cpp - steps of par's own packages beside what the cost model says of them ---------------===//
#include "par/Cost/OwnSteps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>

using namespace mlir::par;
using llvm::ArrayRef;

#define NO_DROPOUT " --set attn_pdrop=0.0 --set embd_pdrop=0.0 --set resid_pdrop=0.0"
static constexpr OwnStep kSteps[] = {
#define OWN_STEP(device, type, config, flags, modelled, measured, blind)                                     \
  {device, FloatKind::type, config, flags, modelled, measured, blind},
#include "OwnSteps.def"
#undef OWN_STEP
};

namespace {
struct OwnDevice {
  const char *name;
  double peak, memory; ///< TFLOP/s of bf16, GB/s
};
} // namespace

static constexpr OwnDevice kDevices[] = {
#define OWN_DEVICE(name, peak, memory) {name, peak, memory},
#include "OwnSteps.def"
#undef OWN_DEVICE
};

static constexpr OwnHostStep kHostSteps[] = {
#define OWN_HOST_STEP(model, plan, ranks, predicted, measured) {model, plan, ranks, predicted, measured},
#include "OwnSteps.def"
#undef OWN_HOST_STEP
};

ArrayRef<OwnStep> mlir::par::getOwnSteps() { return kSteps; }
ArrayRef<OwnHostStep> mlir::par::getOwnHostSteps() { return kHostSteps; }

static std::vector<OwnStep> listSteps(const OwnDevice &device, FloatKind type) {
  std::vector<OwnStep> steps;
  for (const OwnStep &step : kSteps)
    if (llvm::StringRef(step.device) == device.name && step.type == type)
      steps.push_back(step);
  return steps;
}

/// The distance is how many times as fast one is as the other, at products and in memory, on a logarithmic
/// scale.
static double getDistance(const OwnDevice &own, const DeviceModel &device) {
  double memory = device.memory.points.back().second;
  return std::abs(std::log(device.products.peakBF16 / (own.peak * 1e12))) +
         std::abs(std::log(memory / (own.memory * 1e9)));
}

static bool isNamed(const DeviceModel &device, const OwnDevice &own) {
  return llvm::StringRef(device.name).contains(own.name);
}

/// The device that was measured with such a type; null: none was.
static const OwnDevice *findDevice(const DeviceModel &device, FloatKind type) {
  const OwnDevice *nearest = nullptr;
  for (const OwnDevice &own : kDevices) {
    if (listSteps(own, type).empty())
      continue;
    if (isNamed(device, own))
      return &own;
    if (!nearest || getDistance(own, device) < getDistance(*nearest, device))
      nearest = &own;
  }
  return nearest;
}

/// The geometric mean of measured by modelled, without the step of that number.
static double getMean(ArrayRef<OwnStep> steps, std::optional<size_t> without = std::nullopt) {
  double sum = 0;
  for (auto [number, step] : llvm::enumerate(steps))
    if (number != without)
      sum += std::log(step.measured / step.modelled);
  size_t count = steps.size() - (without ? 1 : 0);
  return count > 0 ? std::exp(sum / static_cast<double>(count)) : 1;
}

/// The error is of steps that are blind, each predicted by the factor of the others.
static double getError(ArrayRef<OwnStep> steps, int64_t judged) {
  double sum = 0;
  for (auto [number, step] : llvm::enumerate(steps))
    if (step.isBlind)
      sum += std::abs(step.modelled * getMean(steps, number) / step.measured - 1);
  return sum / static_cast<double>(judged);
}

std::optional<OwnFactor> mlir::par::findOwnFactor(const Cluster &cluster, FloatKind type) {
  const OwnDevice *own = cluster.target == TargetKind::Cuda ? findDevice(cluster.device, type) : nullptr;
  if (!own)
    return std::nullopt;
  std::vector<OwnStep> steps = listSteps(*own, type);
  OwnFactor factor;
  factor.device = own->name;
  factor.isNearest = !isNamed(cluster.device, *own);
  factor.steps = static_cast<int64_t>(steps.size());
  factor.judged = llvm::count_if(steps, [](const OwnStep &step) { return step.isBlind; });
  factor.factor = getMean(steps);
  factor.error = getError(steps, factor.judged);
  return factor;
}

void mlir::par::takeOwnFactor(Cluster &cluster, FloatKind type) {
  if (std::optional<OwnFactor> own = findOwnFactor(cluster, type))
    cluster.ownFactor = own->factor;
}
