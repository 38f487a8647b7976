//===- CpuTarget.cpp - processors with the runtime in runtime/cpu -------------------------------------===//
#include "CpuTarget.h"

using namespace mlir::par;

static TargetLimits getLimits() {
  TargetLimits limits;
  limits.spaces = {rank::Space::Device, rank::Space::Pinned};
  limits.alignment = 64; // a line of the cache, and the widest vector
  limits.largestValue = int64_t(32) << 20;
  limits.leastRows = 512;
  return limits;
}

/// Plans that are tried on processors are to be those of the cluster they stand for: an H100 inside its node
/// (dense bf16 products at 40 % of 989 TFLOP/s; 3.35 TB/s of memory; 100 GB/s of what NVLink and the network
/// give on average).
static constexpr DeviceRates kRates{400e12, 3.35e12, 100e9, 10e-6};

CpuTarget::CpuTarget() : Target(TargetKind::Cpu, getLimits(), kRates) {}

llvm::ArrayRef<ChipKind> CpuTarget::getChips() const {
  static constexpr ChipKind chips[] = {ChipKind::Native, ChipKind::X86V2, ChipKind::X86V3, ChipKind::X86V4};
  return chips;
}
