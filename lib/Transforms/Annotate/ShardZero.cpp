//===- ShardZero.cpp - where state lies: ZeRO's three stages --------------------------------------------===//
#include "par/Plan/Axes.h"
#include "par/Sharding/FactorAssignment.h"
#include "par/Sharding/MeshViews.h"
#include "par/Transforms/Annotate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SHARDZERO
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct ShardZero : par::impl::ShardZeroBase<ShardZero> {
  using ShardZeroBase::ShardZeroBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (stage < 0 || stage > 3) {
      module.emitError("par-shard-zero: stage is ") << int64_t(stage) << ", expected 0, 1, 2 or 3";
      return signalPassFailure();
    }
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getOf()) {
        InFlightDiagnostic error =
            variable.emitOpError("par-shard-zero: belongs to ")
            << variable.getOfAttr()
            << "; the pass says how such state will lie and runs before par-differentiate";
        if (Operation *owner = SymbolTable::lookupNearestSymbolFrom(variable, variable.getOfAttr()))
          error.attachNote(owner->getLoc()) << "the parameter";
        return signalPassFailure();
      }
    mesh = getMesh(module);
    if (stage == 0 || !mesh)
      return;
    resolveViews(module);
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getRole() == Role::Parameter && variable.getTensorType().getRank() > 0)
        shard(variable);
  }

  /// The axes of state that split no dimension yet: over the others a rank computes with a part of its own.
  Axes chooseGroup(const DimAxes &dims) const {
    Axes group = mesh.getAxes(AxisRole::State);
    for (const Axes &axes : dims)
      llvm::erase_if(group, [&](StringAttr axis) { return llvm::is_contained(axes, axis); });
    return group;
  }

  void shard(VariableOp parameter) {
    DimAxes dims(parameter.getTensorType().getRank());
    if (ShardingAttr compute = parameter.getComputeAttr())
      dims = getDimAxes(compute);
    Axes group = chooseGroup(dims);
    if (group.empty())
      return;
    llvm::append_range(dims[chooseDim(parameter.getTensorType(), dims, mesh.getSize(group))], group);
    ShardingAttr storage = makeSharding(&getContext(), getMeshName(parameter), dims);
    Builder builder(&getContext());
    SmallVector<StringRef> roles{"gradient", "master", "moment"};
    if (stage >= 2)
      roles.push_back("accumulator");
    SmallVector<NamedAttribute> state;
    for (StringRef role : roles)
      state.push_back(builder.getNamedAttr(role, storage));
    parameter->setAttr(ParDialect::kStateStorageAttr, builder.getDictionaryAttr(state));
    if (stage >= 3)
      parameter.setStorageAttr(storage);
  }

  /// The first dimension whose shard the group divides, else the one that gains the least padding. There,
  /// dimensions that are not split yet come first: a shard of a padded shard begins elsewhere than the shard
  /// it is a part of, so that reading it takes a gather over all axes of the dimension.
  unsigned chooseDim(RankedTensorType type, const DimAxes &dims, int64_t members) const {
    std::optional<unsigned> best;
    std::pair<bool, double> least;
    for (auto [dim, axes] : llvm::enumerate(dims)) {
      int64_t local = ceilDiv(type.getDimSize(dim), mesh.getSize(axes));
      if (local % members == 0)
        return dim;
      double padded = static_cast<double>(ceilDiv(local, members) * members) / static_cast<double>(local);
      std::pair<bool, double> cost(!axes.empty(), padded);
      if (!best || cost < least) {
        best = dim;
        least = cost;
      }
    }
    return *best;
  }

  MeshAttr mesh;
};
} // namespace
