//===- Import.h - from a Hugging Face config to a graph ---------------------------------------*- C++ -*-===//
#ifndef PAR_IMPORT_IMPORT_H
#define PAR_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "par/Import/ModelConfig.h"

namespace mlir::par {

struct ImportOptions {
  /// A Hugging Face folder or `config.json`.
  std::string model;
  /// `key=value` each, applied to the config's top-level keys.
  std::vector<std::string> overrides;
  /// Tokens per sequence; absent: min(1024, the config's maximum).
  std::optional<int64_t> seq;
  /// Sequences of the graph, that is of one micro-batch over all data-parallel ranks.
  int64_t batch = 8;
  /// Of parameters and activations: `f32` or `bf16`.
  std::string dtype = "f32";
  /// Tokens see those of their own document alone: the graph reads position and document of each.
  bool isolatesDocuments = false;
  /// Also build `@logits`, which is for evaluation and not part of a training step.
  bool logits = true;
};

/// The checked config and sequence length that `options` mean, after a note of what the config has beyond
/// that. Null after emitting one error through `context`.
struct ImportPlan {
  ModelConfig config;
  int64_t seq;
  int64_t batch;
  bool bf16; ///< parameters and activations; else f32
};
FailureOr<ImportPlan> planImport(MLIRContext &context, const ImportOptions &options);

/// The device-free graph of a model (docs/IR.md, section 1). Loads the dialects it needs into `context`. Null
/// after emitting one error. Notes are `planImport`'s, which is called once, and this for every size of
/// batch.
OwningOpRef<ModuleOp> importModel(MLIRContext &context, const ImportOptions &options);
/// The graph of a plan that was checked. `logits`: it has a function of logits, too.
OwningOpRef<ModuleOp> importModel(MLIRContext &context, const ImportPlan &plan, bool logits);

/// One line of JSON: `{"model_type":"gpt2","parameters":124439808,"tensors":148}`; a tied tensor counts once.
std::string summarize(const ModelConfig &config);

} // namespace mlir::par

#endif // PAR_IMPORT_IMPORT_H
