//===- RefineMesh.cpp - numbers ranks of the mesh in a second way ---------------------------------------===//
#include "par/Sharding/MeshViews.h"
#include "par/Transforms/Annotate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_REFINEMESH
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct RefineMesh : par::impl::RefineMeshBase<RefineMesh> {
  using RefineMeshBase::RefineMeshBase;

  void runOnOperation() override {
    MeshAttr mesh = getMesh(getOperation());
    if (!mesh)
      return fail("the module has no mesh; run par-set-mesh first");
    SmallVector<std::pair<StringRef, int64_t>> axes;
    for (StringRef text : into) {
      auto &[name, size] = axes.emplace_back(text.split('=').first, 0);
      if (text.split('=').second.getAsInteger(10, size) || size < 1)
        return fail("\"" + text + "\" is not axis=size with a size of at least 1");
    }
    llvm::Expected<MeshAttr> refined =
        refineMesh(mesh, SmallVector<StringRef>(over.begin(), over.end()), axes);
    if (!refined)
      return fail(llvm::toString(refined.takeError()));
    setMesh(getOperation(), *refined);
  }

  void fail(const Twine &problem) {
    getOperation().emitError("par-refine-mesh: ") << problem;
    signalPassFailure();
  }
};
} // namespace
