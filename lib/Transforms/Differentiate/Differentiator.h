//===- Differentiator.h - differentiates all chunks of a module -------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_DIFFERENTIATOR_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_DIFFERENTIATOR_H

#include "SavePlan.h"

namespace mlir::par {

/// Chooses the forward values to save.
using SaveChooser = std::function<DenseSet<Value>(JointFunction &)>;

/// Replaces the forward functions of `module` (those of chunks in place, those of layers by `.forward`
/// functions) and writes the backward functions beside them; see par-differentiate. `split`: also
/// backward_input and backward_weight. Gradients are accumulated in `gradientType`, f32 or bf16.
LogicalResult differentiateModule(ModuleOp module, bool split, Type gradientType, const SaveChooser &choose);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_DIFFERENTIATOR_H
