//===- PlanAnswer.h - what a search says ------------------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANANSWER_H
#define PAR_PLANNER_PLANANSWER_H

#include "par/Planner/Strategies.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::par {

/// How much a model computes in a step of a batch: products and attention of forward and backward passes,
/// counting what is seen (the causal half of attention).
double countModelFlops(ModuleOp module, double batch);

/// docs/Planner.md. `flops`: of a step.
llvm::json::Object describeAnswer(const SearchResult &result, const Cluster &cluster, double flops,
                                  size_t top);
void printAnswer(const SearchResult &result, const Cluster &cluster, double flops, size_t top,
                 llvm::raw_ostream &os);

llvm::json::Array describeStrategies(llvm::ArrayRef<StrategyRow> rows, const Cluster &cluster, double flops);
void printStrategies(llvm::ArrayRef<StrategyRow> rows, llvm::raw_ostream &os);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANANSWER_H
