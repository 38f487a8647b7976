//===- Passes.h - passes of the phase Lower -*- C++ -*-===//
#ifndef PAR_TRANSFORMS_LOWER_PASSES_H
#define PAR_TRANSFORMS_LOWER_PASSES_H

#include "mlir/Pass/Pass.h"
#include "par/Dialect/Par/IR/Par.h"
#include <string>

namespace mlir::par {
#define GEN_PASS_DECL
#include "par/Transforms/Lower/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

#endif // PAR_TRANSFORMS_LOWER_PASSES_H
