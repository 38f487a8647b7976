//===- Passes.h - passes of the phase Annotate -*- C++ -*-===//
#ifndef PAR_TRANSFORMS_ANNOTATE_PASSES_H
#define PAR_TRANSFORMS_ANNOTATE_PASSES_H

#include "mlir/Pass/Pass.h"
#include <string>

namespace mlir::par {
#define GEN_PASS_DECL
#include "par/Transforms/Annotate/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

#endif // PAR_TRANSFORMS_ANNOTATE_PASSES_H
