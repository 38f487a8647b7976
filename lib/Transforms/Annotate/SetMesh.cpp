//===- SetMesh.cpp - gives the module its mesh ----------------------------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Transforms/Annotate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SETMESH
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

/// Outermost first: neighbours along the last axis have neighbouring rank numbers.
static constexpr llvm::StringLiteral kAxisOrder[] = {"pp", "dp", "cp", "tp"};

namespace {
struct SetMesh : par::impl::SetMeshBase<SetMesh> {
  using SetMeshBase::SetMeshBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (getMesh(module)) {
      module.emitError("par-set-mesh: the module already has a mesh");
      return signalPassFailure();
    }
    llvm::StringMap<int64_t> given;
    if (failed(parse(module, given)))
      return signalPassFailure();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<StringAttr> names;
    SmallVector<int64_t> sizes;
    for (StringRef axis : kAxisOrder)
      if (auto found = given.find(axis); found != given.end()) {
        names.push_back(builder.getStringAttr(axis));
        sizes.push_back(found->second);
      }
    builder.create<MeshOp>(module.getLoc(), "mesh", MeshAttr::get(&getContext(), names, sizes));
  }

  LogicalResult parse(ModuleOp module, llvm::StringMap<int64_t> &given) {
    // More than any cluster has; beyond, sizes of shards are no numbers that mean anything.
    constexpr int64_t kMostRanks = 1 << 24;
    int64_t ranks = 1;
    SmallVector<StringRef> entries;
    StringRef(mesh).split(entries, ',', -1, /*KeepEmpty=*/false);
    for (StringRef entry : entries) {
      auto [name, text] = entry.split('=');
      int64_t size;
      if (text.getAsInteger(10, size) || size < 1)
        return module.emitError("mesh: \"") << entry << "\" is not axis=size with a size of at least 1";
      if (!llvm::is_contained(kAxisOrder, name))
        return module.emitError("mesh: unknown axis \"") << name << "\", expected pp, dp, cp or tp";
      if (size > kMostRanks || (ranks *= size) > kMostRanks)
        return module.emitError("mesh: more than ") << kMostRanks << " ranks";
      if (!given.try_emplace(name, size).second)
        return module.emitError("mesh: axis \"") << name << "\" is given twice";
    }
    return success();
  }
};
} // namespace
