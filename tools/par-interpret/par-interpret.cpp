//===- par-interpret.cpp - reference evaluation of a graph or model -------------------------------------===//
#include "mlir/IR/MLIRContext.h"
#include "par/Interpreter/InterpretModel.h"
#include "par/Register/Register.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/Flags.h"
#include "par/Support/OutOfMemory.h"
#include "par/Support/OutputFile.h"

using namespace mlir;

static void describeModel(par::Flags &flags, par::InterpretOptions &options) {
  flags.positional(options.model);
  flags.choice("function", {"train", "logits"}, "what to evaluate (default: train)", options.function);
  flags.list("set", "key=value", "replaces a key of the config; the value is JSON, else a string",
             options.overrides);
  flags.text("dtype", "TYPE", "of a MODEL's parameters and activations: f32 or bf16 (default: f32)",
             options.dtype);
  flags.choice("grad-dtype", {"f32", "bf16"}, "type of accumulated gradients (default: f32)",
               options.gradType);
  flags.choice("moment-dtype", {"f32", "bf16"}, "type of the optimizer's moments (default: f32)",
               options.momentType);
  flags.toggle("exact", "does not round bf16: the graph in f64 throughout", options.exact);
  flags.integer("seq", "N", "tokens per sequence (default: min(1024, the config's maximum))",
                [&](int64_t value) { options.seq = value; });
  flags.integer("batch", "N", "sequences per step over all ranks (default: 8 per data-parallel rank)",
                [&](int64_t value) { options.batch = value; });
  flags.integer(
      "micro-batches", "N", "parts in which a step's batch is computed (default: 1)",
      [&](int64_t value) { options.microBatches = value; }, 1);
  flags.text("mesh", "dp=2,tp=2", "partitions the graph and evaluates all ranks (default: one rank)",
             options.mesh);
  flags.integer(
      "ranks", "N", "without --mesh: N data-parallel ranks", [&](int64_t value) { options.ranks = value; },
      1);
  flags.choice("zero", {"0", "1", "2", "3"}, "with --mesh: ZeRO stage (default: 0)", options.zero);
  flags.choice("zero3-gather", {"per-micro-batch", "per-step"},
               "with --zero 3: how often parameters are gathered (default: per-micro-batch)",
               options.zero3Gather);
  flags.toggle("sequence-parallel", "with --mesh tp=N: splits the sequence between products over tp",
               options.sequenceParallel);
  flags.toggle("split-backward", "runs backward_input and backward_weight in place of backward",
               options.splitBackward);
}

static void describeTraining(par::Flags &flags, par::InterpretOptions &options) {
  flags.integer(
      "steps", "N", "optimizer steps (default: 1)", [&](int64_t value) { options.steps = value; }, 1);
  flags.integer(
      "seed", "N", "of initial values, dropout and random data (default: 0)",
      [&](int64_t value) { options.seed = value; }, 0);
  flags.text("weights", "FILE|HF_DIR", "safetensors to begin with (default: initial values)",
             options.weights);
  flags.text("data", "FILE|random", "tokens (default: random)", options.data);
  flags.choice("data-dtype", {"uint8", "uint16", "uint32"}, "type of the tokens in FILE", options.dataType);
  flags.choice("optimizer", {"adamw", "sgd"}, "(default: adamw)", options.optimizer);
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
  flags.choice("save", {"logits", "grads", "params"},
               "what -o holds (default: params, logits with --function logits)", options.save);
  flags.text("o", "FILE.safetensors", "where to write the result (default: nowhere)", options.output);
}

int main(int argc, char **argv) {
  par::endWithoutMemory("use a smaller model, --batch or --seq, or compile it and use par-run");
  par::InterpretOptions options;
  par::Flags flags(
      "par-interpret graph.mlir|MODEL [flags]",
      "Evaluates a graph in f64, slowly and plainly, on one rank or on all ranks of a mesh: the reference "
      "for compiled programs. Prints loss and gradient norm of every step as JSON.");
  describeModel(flags, options);
  describeTraining(flags, options);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  options.given = flags.getGiven();
  DialectRegistry registry;
  par::registerDialects(registry);
  par::registerPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, par::printDiagnostic);
  // Errors are one line; the IR that they are about is behind par-opt.
  context.printOpOnDiagnostic(false);
  return par::finishOutput(failed(par::interpretModel(context, std::move(options))));
}
