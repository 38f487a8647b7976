//===- Passes.h - passes of the phase Cut -*- C++ -*-===//
#ifndef PAR_TRANSFORMS_CUT_PASSES_H
#define PAR_TRANSFORMS_CUT_PASSES_H

#include "mlir/Pass/Pass.h"
#include <string>

namespace mlir::par {
#define GEN_PASS_DECL
#include "par/Transforms/Cut/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "par/Transforms/Cut/Passes.h.inc"
} // namespace mlir::par

#endif // PAR_TRANSFORMS_CUT_PASSES_H
