//===- ShardTensor.cpp - tensor parallelism by dimension names ------------------------------------------===//
#include "par/Plan/Axes.h"
#include "par/Sharding/FactorAssignment.h"
#include "par/Sharding/MeshViews.h"
#include "par/Sharding/NamedDims.h"
#include "par/Transforms/Annotate/Passes.h"
#include <tuple>

namespace mlir::par {
#define GEN_PASS_DEF_SHARDTENSOR
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// Numbers of kv heads and of query heads per kv head.
struct HeadGroups {
  int64_t kvHeads = 0, group = 1;
};

struct ShardTensor : par::impl::ShardTensorBase<ShardTensor> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshAttr mesh = getMesh(module);
    if (!mesh || mesh.getAxes(AxisRole::Tensor).empty())
      return;
    Axes all, kv, group;
    splitAxis(module, mesh, all, kv, group);
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getRole() == Role::Parameter && !variable.getComputeAttr())
        shard(variable, all, kv, group);
  }

  static int64_t getDim(VariableOp variable, StringRef name) {
    for (auto [dim, each] : llvm::enumerate(variable.getDims().getAsValueRange<StringAttr>()))
      if (each == name)
        return variable.getTensorType().getDimSize(dim);
    return 0;
  }

  static HeadGroups findHeads(ModuleOp module) {
    HeadGroups heads;
    for (auto variable : module.getOps<VariableOp>()) {
      heads.kvHeads = std::max(heads.kvHeads, getDim(variable, kKvHeads));
      heads.group = std::max(heads.group, getDim(variable, kQueryGroup));
    }
    return heads;
  }

  /// Ranks over which kv heads are split; the group is split over the other tp / n. Fewest query heads per
  /// rank (the work), then fewest kv heads (the memory).
  static int64_t chooseKvShards(HeadGroups heads, int64_t tp) {
    std::tuple<int64_t, int64_t, int64_t> least;
    for (int64_t shards = tp; shards >= 1; --shards) {
      if (tp % shards)
        continue;
      int64_t kv = ceilDiv(heads.kvHeads, shards), queries = kv * ceilDiv(heads.group, tp / shards);
      std::tuple<int64_t, int64_t, int64_t> candidate(queries, kv, shards);
      if (shards == tp ||
          std::make_pair(queries, kv) < std::make_pair(std::get<0>(least), std::get<1>(least)))
        least = candidate;
    }
    return std::get<2>(least);
  }

  /// Refines tensor parallelism's axis in the mesh if both parts are larger than one.
  static void splitAxis(ModuleOp module, MeshAttr mesh, Axes &all, Axes &kv, Axes &group) {
    StringRef axis = getAxisName(AxisRole::Tensor);
    all = mesh.getAxes(AxisRole::Tensor);
    int64_t ranks = mesh.getSize(all), overKv = chooseKvShards(findHeads(module), ranks);
    if (overKv == ranks || overKv == 1) {
      (overKv == ranks ? kv : group) = all;
      return;
    }
    std::string kvName = (axis + ".kv").str(), groupName = (axis + ".group").str();
    mesh = llvm::cantFail(refineMesh(mesh, {axis}, {{kvName, overKv}, {groupName, ranks / overKv}}));
    setMesh(module, mesh);
    kv = mesh.getAxes(kvName);
    group = mesh.getAxes(groupName);
    all = mesh.getAxes(axis);
  }

  void shard(VariableOp variable, const Axes &all, const Axes &kv, const Axes &group) {
    DimAxes dims(variable.getTensorType().getRank());
    bool whole = false;
    for (auto [dim, name] : llvm::enumerate(variable.getDims().getAsValueRange<StringAttr>())) {
      if (name == kKvHeads)
        dims[dim] = kv;
      else if (name == kQueryGroup)
        dims[dim] = group;
      else if (!whole && llvm::is_contained(kWholeSplit, name))
        dims[dim] = all, whole = true;
    }
    variable.setComputeAttr(makeSharding(&getContext(), getMeshName(variable), dims));
  }
};
} // namespace
