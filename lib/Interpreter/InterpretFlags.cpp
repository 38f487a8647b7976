//===- InterpretFlags.cpp - the flags of par-interpret --------------------------------------------------===//
#include "par/Compile/PlanFlags.h"
#include "par/Interpreter/InterpretModel.h"
#include "par/Source/Plugins.h"

using namespace mlir;

static void describeModel(par::Flags &flags, par::InterpretOptions &options) {
  flags.positional(options.model);
  flags.first({"o", "steps", "batch", "mesh", "weights"});
  flags.section("A model, and how it is evaluated");
  flags.choice("function", {"train", "logits"}, "what to evaluate (default: train)", options.function);
  flags.list("set", "key=value", "replaces a key of the config; the value is JSON, else a string",
             options.overrides);
  describePluginFlag(flags, options.plugins);
  flags.section("A step, and its ranks");
  describeModelFlags(flags, options.plan);
  flags.section("How tensors are divided");
  describeShardingFlags(flags, options.plan);
  flags.section("How programs run");
  flags.toggle("exact", "does not round bf16: the graph in f64 throughout", options.exact);
  flags.integer(
      "ranks", "N", "without --mesh: N data-parallel ranks", [&](int64_t value) { options.ranks = value; },
      1);
  flags.toggle("split-backward", "runs backward_input and backward_weight in place of backward",
               options.splitBackward);
}

static void describeTraining(par::Flags &flags, par::InterpretOptions &options) {
  flags.section("Steps and data");
  flags.integer(
      "steps", "N", "optimizer steps (default: 1)", [&](int64_t value) { options.steps = value; }, 1);
  flags.integer(
      "seed", "N", "of initial values, dropout and random data (default: 0)",
      [&](int64_t value) { options.seed = value; }, 0);
  flags.text("weights", "FILE|HF_DIR", "safetensors to begin with (default: initial values)",
             options.weights);
  flags.list("data", "FILE|random",
             "tokens (default: random), or FILE.safetensors with rows of other inputs; may be given again",
             options.data);
  flags.list("input", "NAME=VALUE|FILE.safetensors", "what an input is in every step", options.inputs);
  flags.choice("data-dtype", {"uint8", "uint16", "uint32"}, "type of the tokens in FILE", options.dataType);
  flags.integer("document-end", "ID", "token that ends a document, for --documents isolate",
                [&options](int64_t id) { options.documentEnd = id; });
  flags.section("Optimizer");
  flags.number("lr", "X", "learning rate (default: 3e-4)", options.lr);
  flags.choice("lr-schedule", {"constant", "cosine"}, "(default: constant)", options.lrSchedule);
  flags.integer(
      "warmup-steps", "N", "steps of linear warm-up (default: 0)",
      [&](int64_t value) { options.warmupSteps = value; }, 0);
  flags.integer(
      "decay-steps", "N", "step at which the cosine reaches --min-lr (default: --steps)",
      [&](int64_t value) { options.decaySteps = value; }, 1);
  flags.number("min-lr", "X", "end of the cosine (default: 0)", options.minLr);
  // Moments are divided by 1 − β^step, and by a root to which eps is added.
  flags.number("beta1", "X", "of AdamW (default: 0.9)", options.beta1, {0.0, true, 1.0});
  flags.number("beta2", "X", "of AdamW (default: 0.95)", options.beta2, {0.0, true, 1.0});
  flags.number("eps", "X", "of AdamW (default: 1e-8)", options.eps, {0.0, /*leastIncluded=*/false});
  flags.number("weight-decay", "X", "on tensors of file rank 2 and more (default: 0.1)", options.weightDecay);
  flags.number("clip-grad-norm", "X", "largest norm of the gradient; 0 = off (default: 1)", options.clip);
  flags.list("loss-weight", "NAME=X", "weight of one of several losses (default: the graph's)",
             options.lossWeightTexts);
  flags.section("Output");
  flags.choice("save", {"logits", "grads", "params"},
               "what -o holds (default: params, logits with --function logits)", options.save);
  flags.text("o", "FILE.safetensors", "where to write the result (default: nowhere)", options.output);
}

void par::describeInterpretFlags(Flags &flags, InterpretOptions &options) {
  describeModel(flags, options);
  describeTraining(flags, options);
  flags.files({"weights", "data"}, {"o"});
}
