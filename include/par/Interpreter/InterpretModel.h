//===- InterpretModel.h - reference evaluation of a model on data -----------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_INTERPRETMODEL_H
#define PAR_INTERPRETER_INTERPRETMODEL_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LogicalResult.h"
#include "par/Plan/Plan.h"
#include "par/Source/ModelSource.h"
#include "par/Support/Flags.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mlir::par {

/// The command line of par-interpret; the tools' contract says what the flags mean.
struct InterpretOptions {
  std::set<std::string> given;        ///< names of the command line's flags
  std::string model;                  ///< graph.mlir, a Hugging Face folder or config.json
  std::vector<std::string> overrides; ///< key=value
  std::vector<std::string> plugins;   ///< files
  std::string function = "train";     ///< train or logits
  Plan plan;                          ///< what of it changes numbers; the rest has its defaults
  std::optional<int64_t> ranks;       ///< without a mesh: data-parallel ranks
  int64_t steps = 1, seed = 0;
  std::string weights, dataType = "auto";
  std::vector<std::string> data;   ///< files of tokens or rows; none: random
  int64_t documentEnd = -1;        ///< the token that ends a document; -1: files say it, or nobody asks
  std::vector<std::string> inputs; ///< NAME=VALUE, NAME=FILE
  std::string lrSchedule = "constant";
  int64_t warmupSteps = 0, decaySteps = 0; ///< 0 = steps
  double lr = 3e-4, minLr = 0.0, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1, clip = 1.0;
  std::vector<std::string> lossWeightTexts;  ///< NAME=X
  std::map<std::string, double> lossWeights; ///< what they say
  bool splitBackward = false;
  bool exact = false; ///< bf16 is not rounded
  std::string save;   ///< logits, grads or params; empty = by function
  std::string output; ///< safetensors file; empty = none

  bool has(llvm::StringRef flag) const { return given.count(flag.str()); }
  /// Whether ranks of a mesh are evaluated, be it of one rank.
  bool isPartitioned() const { return has("mesh") || ranks; }
  bool isGraph() const { return openModel(model)->isGraph(); }
};

/// All flags of par-interpret, bound to `options`.
void describeInterpretFlags(Flags &flags, InterpretOptions &options);

/// Builds or reads the graph, brings it to the state that the options ask for, evaluates it in f64 and prints
/// a line of JSON per step on stdout: `{"step":1,"loss":…,"grad_norm":…}`. Fails after one error through
/// `context`.
LogicalResult interpretModel(MLIRContext &context, InterpretOptions options);

} // namespace mlir::par

#endif // PAR_INTERPRETER_INTERPRETMODEL_H
