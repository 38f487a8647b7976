//===- SetMesh.cpp - gives the module its mesh ----------------------------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Plan/Axes.h"
#include "par/Transforms/Annotate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SETMESH
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct SetMesh : par::impl::SetMeshBase<SetMesh> {
  using SetMeshBase::SetMeshBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (getMesh(module)) {
      module.emitError("par-set-mesh: the module already has a mesh");
      return signalPassFailure();
    }
    llvm::Expected<NamedAxes> axes = parseMeshAxes(mesh);
    if (!axes) {
      module.emitError("mesh: ") << llvm::toString(axes.takeError());
      return signalPassFailure();
    }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<StringAttr> names;
    SmallVector<int64_t> sizes;
    for (auto &[name, size] : *axes) {
      names.push_back(builder.getStringAttr(name));
      sizes.push_back(size);
    }
    builder.create<MeshOp>(module.getLoc(), "mesh", MeshAttr::get(&getContext(), names, sizes));
  }
};
} // namespace
