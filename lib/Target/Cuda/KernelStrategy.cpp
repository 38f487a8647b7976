//===- KernelStrategy.cpp - the strategy of a kernel ----------------------------------------------===//
#include "KernelStrategy.h"

using namespace mlir;
using namespace mlir::par;

static constexpr StrategyMatch (*kStrategies[])(const KernelRegion &) = {
#define PAR_KERNEL_STRATEGY(name) match##name,
#include "KernelStrategies.def"
};

std::unique_ptr<KernelStrategy> par::selectStrategy(Block &block) {
  KernelRegion region(block);
  StrategyMatch match;
  for (auto *ask : kStrategies)
    if (!match.strategy && match.reason.empty())
      match = ask(region);
  return match.strategy ? std::move(match.strategy) : makeGeneric(match.reason);
}
