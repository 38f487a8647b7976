//===- SearchSharding.cpp - tensor parallelism by an integer program ------------------------------------===//
#include "par/Plan/Axes.h"
#include "par/Sharding/FactorAssignment.h"
#include "par/ShardingSearch/SearchShardings.h"
#include "par/Transforms/Annotate/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::par {
#define GEN_PASS_DEF_SEARCHSHARDING
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct SearchSharding : par::impl::SearchShardingBase<SearchSharding> {
  using SearchShardingBase::SearchShardingBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshAttr mesh = getMesh(module);
    if (parameterLimit < 0) {
      module.emitError("par-search-sharding: parameter-limit is ")
          << int64_t(parameterLimit) << ", expected a number of bytes, or 0 for none";
      return signalPassFailure();
    }
    Axes axes = mesh ? mesh.getAxes(AxisRole::Tensor) : Axes();
    if (axes.empty() || takeKnown(module, axes.front()))
      return;
    FailureOr<ShardingProblem> problem = describeProblem(module, axes.front());
    if (failed(problem))
      return signalPassFailure();
    SearchLimits limits;
    if (parameterLimit > 0)
      limits.parameterBytes = parameterLimit;
    llvm::Expected<FoundShardings> found = searchShardings(*problem, {flops, memory, link, latency}, limits);
    if (!found) {
      module.emitError("par-search-sharding: ") << llvm::toString(found.takeError());
      return signalPassFailure();
    }
    write(*problem, *found);
    report(*problem, *found);
  }

  /// Splits that were found before are taken as they are, where all parameters have one.
  bool takeKnown(ModuleOp module, StringAttr axis) {
    SmallVector<std::pair<VariableOp, int64_t>> known;
    for (auto variable : module.getOps<VariableOp>()) {
      if (variable.getRole() != Role::Parameter || variable.getComputeAttr())
        continue;
      auto split = variable->getAttrOfType<IntegerAttr>(ParDialect::kSplitAttr);
      if (!split)
        return false;
      known.emplace_back(variable, split.getInt());
    }
    for (auto [variable, dim] : known)
      split(variable, dim, axis);
    return true;
  }

  /// `dim`: below 0, none.
  void split(VariableOp variable, int64_t dim, StringAttr axis) {
    DimAxes dims(variable.getTensorType().getRank());
    if (dim >= 0)
      dims[dim].push_back(axis);
    variable.setComputeAttr(makeSharding(&getContext(), getMeshName(variable), dims));
  }

  void write(const ShardingProblem &problem, const FoundShardings &found) {
    for (auto [group, layout] : llvm::zip(problem.groups, found.layouts))
      for (VariableOp variable : group.parameters)
        if (!variable.getComputeAttr())
          split(variable, layout, problem.axis);
  }

  void report(const ShardingProblem &problem, const FoundShardings &found) {
    if (found.isCutOff)
      getOperation().emitWarning(
          "par-search-sharding: ended after the most branches that it takes; a step is ")
          << llvm::formatv("{0:f1}", 100 * (found.seconds / found.boundSeconds - 1)).str()
          << " % longer than the best, or less";
    if (!explain)
      return;
    size_t all = 0, split = 0;
    for (auto [group, layout] : llvm::zip(problem.groups, found.layouts)) {
      all += group.parameters.size();
      split += layout >= 0 ? group.parameters.size() : 0;
    }
    getOperation().emitRemark("par-search-sharding: ")
        << split << " of " << all << " parameters are split over " << problem.axis.getValue() << "="
        << problem.ranks << ", " << static_cast<int64_t>(found.parameterBytes)
        << " bytes per rank of at least " << static_cast<int64_t>(found.leastBytes) << ", "
        << llvm::formatv("{0:f1}", found.seconds * 1e6).str() << " us a step";
  }
};
} // namespace
