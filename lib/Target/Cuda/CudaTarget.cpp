//===- CudaTarget.cpp - NVIDIA GPUs with the runtime in runtime/cuda ------------------------------===//
#include "CudaTarget.h"
#include "DeviceCode.h"

using namespace mlir;
using namespace mlir::par;

static TargetLimits getLimits() {
  TargetLimits limits;
  limits.spaces = {rank::Space::Device, rank::Space::Pinned};
  limits.alignment = 256; // what cuMemAlloc gives, and cuBLASLt's fastest kernels ask for
  limits.largestValue = int64_t(1) << 30;
  limits.leastRows = 512;
  limits.mostListed = 2048;   // with scratch fewer parameters than the 32,764 bytes that PTX 8.1 allows
  limits.rowElements = 64;    // of bf16 whole lines of 128 bytes; odd rows keep cuBLASLt from tensor cores
  limits.hasEpilogues = true; // cuBLASLt's
  limits.keepsConstants = true;
  return limits;
}

/// An H100 inside its node: dense bf16 products at 40 % of 989 TFLOP/s, 3.35 TB/s of memory, 100 GB/s of what
/// NVLink and the network give on average.
static constexpr DeviceRates kRates{400e12, 3.35e12, 100e9, 10e-6};

CudaTarget::CudaTarget() : Target(TargetKind::Cuda, getLimits(), kRates, /*hasDeviceProgram=*/true) {}

/// PTX for sm_90 runs on later GPUs as well, that for sm_90a does not.
ArrayRef<ChipKind> CudaTarget::getChips() const {
  static constexpr ChipKind chips[] = {ChipKind::Sm90, ChipKind::Sm90A, ChipKind::Sm80};
  return chips;
}

void CudaTarget::describeMachine(const Plan &plan, llvm::json::Object &manifest) const {
  manifest["chip"] = getName(plan.chip);
  manifest["ptx"] = kPtxVersion;
}
