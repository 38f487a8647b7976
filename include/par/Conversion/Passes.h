//===- Passes.h - passes of the phase Conversion -*- C++ -*-===//
#ifndef PAR_CONVERSION_PASSES_H
#define PAR_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"
#include <string>

namespace mlir::par {
#define GEN_PASS_DECL
#include "par/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "par/Conversion/Passes.h.inc"
} // namespace mlir::par

#endif // PAR_CONVERSION_PASSES_H
