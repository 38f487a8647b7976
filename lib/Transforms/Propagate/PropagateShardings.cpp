//===- PropagateShardings.cpp - completes shardings through factors -------------------------------------===//
#include "Propagation.h"
#include "par/Sharding/MeshViews.h"
#include "par/Target/Target.h"
#include "par/Transforms/Propagate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "par/Transforms/Propagate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct PropagateShardings : par::impl::PropagateShardingsBase<PropagateShardings> {
  using PropagateShardingsBase::PropagateShardingsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshAttr mesh = getMesh(module);
    if (!mesh) {
      module.emitError("par-propagate-shardings: the module has no par.mesh; run par-set-mesh first");
      return signalPassFailure();
    }
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    resolveViews(module);
    specializeCallees(module);
    Propagation propagation(module, mesh, target->rates.getFlopsPerByte(), explain);
    propagation.seed();
    propagation.run();
    propagation.writeShardings();
    if (origins)
      propagation.writeOrigins();
  }
};
} // namespace
