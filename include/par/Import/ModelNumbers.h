//===- ModelNumbers.h - what a model computes, beside the shapes of its parameters ------------*- C++ -*-===//
// Checkpoints keep these numbers, so that parameters never get into a model
// that has the same shapes and computes something else (docs/Package.md).

#ifndef PAR_IMPORT_MODELNUMBERS_H
#define PAR_IMPORT_MODELNUMBERS_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Import/ModelConfig.h"

namespace mlir::par {

/// The key of the dictionary in the module's `par.model`.
constexpr llvm::StringLiteral kModelNumbers = "numbers";

/// All that decides what a model's parameters mean: not its dropout and initial
/// values, and nothing of a training run. Keys are those of Llama's config where it has one.
DictionaryAttr describeNumbers(MLIRContext *context, const ModelConfig &config);

/// Gives a graph that was not imported its numbers: `graph`, a hash of what is
/// computed up to the loss. Types, batch, mesh and shardings do not count.
void describeGraph(ModuleOp module);

} // namespace mlir::par

#endif // PAR_IMPORT_MODELNUMBERS_H
