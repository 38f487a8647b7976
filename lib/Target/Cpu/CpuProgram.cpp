//===- CpuProgram.cpp - native code of a program --------------------------------------------------===//
#include "../Host/HostCode.h"
#include "CpuTarget.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::par;

/// Features that decide whether generated code runs, in the order of x86-64's levels.
static const llvm::StringRef kChecked[] = {"sse4.2",  "avx",      "avx2",     "fma",
                                           "avx512f", "avx512bw", "avx512vl", "avx512dq"};

namespace {
struct KnownProcessor : Processor {
  std::vector<std::string> requirements; ///< manifest `cpu_features`: what a processor must have to run it
};
} // namespace

static KnownProcessor getHost() {
  KnownProcessor host{{llvm::sys::getHostCPUName().str(), "", false}, {}};
  for (auto &feature : llvm::sys::getHostCPUFeatures()) {
    host.features +=
        (host.features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
    if (feature.second && llvm::is_contained(kChecked, feature.first()))
      host.requirements.push_back(feature.first().str());
  }
  llvm::sort(host.requirements);
  host.hasWideVectors = llvm::is_contained(host.requirements, "avx512f");
  return host;
}

static KnownProcessor getProcessor(ChipKind chip) {
  if (chip == ChipKind::Native)
    return getHost();
  unsigned checked = chip == ChipKind::X86V2 ? 1 : chip == ChipKind::X86V3 ? 4 : 8;
  KnownProcessor processor{{getName(chip).str(), "", chip == ChipKind::X86V4}, {}};
  for (llvm::StringRef feature : llvm::ArrayRef(kChecked).take_front(checked))
    processor.requirements.push_back(feature.str());
  return processor;
}

void CpuTarget::describeMachine(const Plan &plan, llvm::json::Object &manifest) const {
  manifest["cpu_features"] = llvm::json::Array(getProcessor(plan.chip).requirements);
}

llvm::Error CpuTarget::writeProgram(ModuleOp module, const Plan &plan, StringRef manifestHash,
                                    StringRef path) const {
  return writeHostProgram(module, getProcessor(plan.chip), manifestHash, path);
}
