//===- Differentiate.cpp - writes forward functions with residuals and backward functions ---------------===//
#include "Differentiator.h"
#include "par/Transforms/Differentiate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "par/Transforms/Differentiate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {

struct DifferentiatePass : public par::impl::DifferentiateBase<DifferentiatePass> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    Type gradientType = parseStateType(&getContext(), gradType);
    if (!gradientType) {
      getOperation().emitError("par-differentiate: grad-type=")
          << gradType << " is unknown, expected f32 or bf16";
      return signalPassFailure();
    }
    if (failed(differentiateModule(getOperation(), split, gradientType, readMarks)))
      signalPassFailure();
  }
};

} // namespace
