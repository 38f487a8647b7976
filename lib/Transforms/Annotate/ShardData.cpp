//===- ShardData.cpp - data parallelism -----------------------------------------------------------------===//
#include "par/Dialect/Par/IR/Places.h"
#include "par/Plan/Axes.h"
#include "par/Sharding/FactorAssignment.h"
#include "par/Transforms/Annotate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SHARDDATA
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct ShardData : par::impl::ShardDataBase<ShardData> {
  void runOnOperation() override {
    MeshAttr mesh = getMesh(getOperation());
    if (!mesh)
      return;
    Axes axes = mesh.getAxes(AxisRole::Batch);
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (BlockArgument argument : function.getArguments())
        if (failed(shard(function, argument, mesh, axes)))
          return signalPassFailure();
  }

  /// Inputs with a batch are split over `axes`; all other inputs are replicated. What a strategy before has
  /// annotated stays.
  LogicalResult shard(func::FuncOp function, BlockArgument argument, MeshAttr mesh, const Axes &axes) {
    unsigned number = argument.getArgNumber();
    StringRef input = getInputName(function, number);
    if (input.empty() || getSharding(argument))
      return success();
    auto type = cast<RankedTensorType>(argument.getType());
    DimAxes dims(type.getRank());
    if (auto names = function.getArgAttrOfType<ArrayAttr>(number, ParDialect::kDimsAttr))
      for (auto [dim, name] : llvm::enumerate(names.getAsValueRange<StringAttr>()))
        if (name == "batch")
          dims[dim] = axes;
    for (auto [dim, split] : llvm::enumerate(dims))
      if (type.getDimSize(dim) % mesh.getSize(split))
        return function.emitError("par-shard-data: the batch of ")
               << type.getDimSize(dim) << " rows of input \"" << input << "\""
               << " is not divisible by dp=" << mesh.getSize(split)
               << "; choose a batch that dp times the micro-batches divides";
    setSharding(argument, makeSharding(&getContext(), getMeshName(function), dims));
    return success();
  }
};
} // namespace
