//===- InterpretModel.h - reference evaluation of a model on data -----------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_INTERPRETMODEL_H
#define PAR_INTERPRETER_INTERPRETMODEL_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LogicalResult.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mlir::par {

/// The command line of par-interpret; the tools' contract says what the flags mean.
struct InterpretOptions {
  std::set<std::string> given;                 ///< names of the command line's flags
  std::string model;                           ///< graph.mlir, a Hugging Face folder or config.json
  std::vector<std::string> overrides;          ///< key=value
  std::string function = "train";              ///< train or logits
  std::string mesh;                            ///< "dp=2,tp=2"; empty = one rank
  std::optional<int64_t> ranks;                ///< without a mesh: data-parallel ranks
  std::string zero = "0";                      ///< ZeRO stage
  std::string zero3Gather = "per-micro-batch"; ///< or per-step
  bool sequenceParallel = false;
  std::optional<int64_t> seq, batch;
  int64_t microBatches = 1, steps = 1, seed = 0;
  std::string weights, data = "random", dataType = "auto";
  std::string optimizer = "adamw";
  std::string lrSchedule = "constant";
  int64_t warmupSteps = 0, decaySteps = 0; ///< 0 = steps
  double lr = 3e-4, minLr = 0.0, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1, clip = 1.0;
  bool splitBackward = false;
  std::string dtype; ///< of a model's parameters and activations, empty = f32; a graph has its own
  std::string gradType = "f32", momentType = "f32";
  bool exact = false; ///< bf16 is not rounded
  std::string save;   ///< logits, grads or params; empty = by function
  std::string output; ///< safetensors file; empty = none

  bool isGraph() const {
    llvm::StringRef name(model);
    return name.ends_with(".mlir") || name.ends_with(".mlirbc");
  }
};

/// Builds or reads the graph, brings it to the state that the options ask for, evaluates it in f64 and prints
/// a line of JSON per step on stdout: `{"step":1,"loss":…,"grad_norm":…}`. Fails after one error through
/// `context`.
LogicalResult interpretModel(MLIRContext &context, InterpretOptions options);

} // namespace mlir::par

#endif // PAR_INTERPRETER_INTERPRETMODEL_H
