//===- PlanModel.h - the model that is planned -----------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_PLANNER_PLANMODEL_H
#define PAR_LIB_PLANNER_PLANMODEL_H

#include "par/Planner/PlanSpace.h"
#include "par/Source/ModelSource.h"
#include "par/Support/MadeOnce.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::par {

/// A model from any source.
class PlanModel {
public:
  /// Reads it and completes the request by its sizes, types and, of a graph, micro-batches. `given`: names of
  /// flags.
  LogicalResult load(const std::string &path, const std::vector<std::string> &overrides,
                     const std::set<std::string> &given, PlanRequest &request);
  /// The graph with `plan.getGraphBatch()` sequences; parameters are marked that are not trained. May be
  /// called by several threads.
  OwningOpRef<ModuleOp> importInto(MLIRContext &context, const Plan &plan) const;

  double getFlops() const { return flops; } ///< of a step
  const std::string &getHash() const { return hash; }
  const std::string &getLargestParameter() const { return largest; } ///< its name

private:
  OwningOpRef<ModuleOp> read(MLIRContext &context, const std::string &path,
                             const std::vector<std::string> &overrides, const std::set<std::string> &given,
                             Plan &plan);

  std::unique_ptr<ModelSource> source;
  /// The dimension that tensor parallelism splits, by parameter that has one.
  using Splits = llvm::StringMap<int64_t>;
  /// Nothing where the search fails: there is no such plan then.
  const std::optional<Splits> &findSplits(const Plan &plan) const;
  LogicalResult addSplits(ModuleOp module, const Plan &plan) const;

  mutable MadeOnce<int64_t, std::optional<Splits>> splits; ///< by tensor-parallel ranks
  Names frozen; ///< patterns of the parameters that are not trained
  double flops = 0;
  std::string hash, largest;
};

} // namespace mlir::par

#endif // PAR_LIB_PLANNER_PLANMODEL_H
