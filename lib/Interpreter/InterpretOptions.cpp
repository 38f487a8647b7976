//===- InterpretOptions.cpp - the flags of par-interpret, checked against each other ----------------===//
#include "InterpretGraph.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/PlanFlags.h"
#include "par/Support/ErrorLine.h"
#include "par/io/LossWeights.h"

using namespace mlir;
using namespace mlir::par;
namespace io = ::par::io;

static InFlightDiagnostic error(MLIRContext &context) { return emitError(UnknownLoc::get(&context)); }

static LogicalResult check(MLIRContext &context, llvm::Error problem) {
  return problem ? LogicalResult(error(context) << llvm::toString(std::move(problem))) : success();
}

/// The plan, as par-compile checks it; `--ranks` is short for a mesh.
static LogicalResult completePlan(MLIRContext &context, InterpretOptions &options) {
  Plan &plan = options.plan;
  if (options.ranks && !options.has("mesh"))
    plan.mesh = {{getAxisName(AxisRole::Batch).str(), *options.ranks}};
  if (options.ranks && plan.countRanks() != *options.ranks)
    return error(context) << "--ranks " << *options.ranks << " but --mesh " << printMesh(plan.mesh) << " has "
                          << plan.countRanks() << " ranks; give one of them";
  if (failed(check(context, checkPlan(plan, PlanWords(), /*hasMemoryLimit=*/false))))
    return failure();
  for (const std::string &note : dropIdle(plan))
    printNote(note);
  // It runs both parts of every chunk, as a schedule says that has both.
  if (options.splitBackward)
    plan.schedule = ScheduleKind::ZbH1;
  return success();
}

/// Flags that are given although `why` they could not act.
static LogicalResult refuse(MLIRContext &context, const InterpretOptions &options, ArrayRef<StringRef> names,
                            StringRef why) {
  for (StringRef name : names)
    if (options.given.count(name.str()))
      return error(context) << "--" << name << ": " << why << "; leave it out";
  return success();
}

static LogicalResult checkActing(MLIRContext &context, const InterpretOptions &options) {
  if (options.function == "logits" &&
      failed(refuse(context, options,
                    {"steps", "optimizer", "lr", "lr-schedule", "warmup-steps", "decay-steps", "min-lr",
                     "beta1", "beta2", "eps", "weight-decay", "clip-grad-norm", "grad-dtype", "moment-dtype",
                     "split-backward", "loss-weight"},
                    "belongs to training, and --function logits trains nothing")))
    return failure();
  if (!options.isPartitioned() &&
      failed(refuse(context, options, {"strategy"}, "divides a model over ranks, but --mesh is not given")))
    return failure();
  if (options.plan.optimizer == OptimizerKind::Sgd &&
      failed(refuse(context, options, {"beta1", "beta2", "eps"}, "is AdamW's, but --optimizer is sgd")))
    return failure();
  if (options.lrSchedule == "constant" && failed(refuse(context, options, {"decay-steps", "min-lr"},
                                                        "is the cosine's, but --lr-schedule is constant")))
    return failure();
  bool isRandom = llvm::all_of(
      options.data, [](StringRef file) { return file == "random" || file.ends_with(".safetensors"); });
  if (isRandom && failed(refuse(context, options, {"data-dtype"},
                                "is the type of tokens in a file, but --data is random")))
    return failure();
  return success();
}

static LogicalResult checkSchedule(MLIRContext &context, const InterpretOptions &options) {
  if (options.minLr > options.lr)
    return error(context) << "--min-lr is above --lr, the rate that the cosine begins with; lower it";
  int64_t decay = options.decaySteps ? options.decaySteps : options.steps;
  if (options.lrSchedule == "cosine" && options.warmupSteps > decay)
    return error(context) << "--warmup-steps is " << options.warmupSteps << ", but the cosine ends at step "
                          << decay << "; lower it or raise --decay-steps";
  return success();
}

static LogicalResult completeSave(MLIRContext &context, InterpretOptions &options) {
  bool logits = options.function == "logits";
  if (options.save.empty())
    options.save = logits ? "logits" : "params";
  if (logits != (options.save == "logits"))
    return error(context) << "--save " << options.save << " does not go with --function " << options.function
                          << "; logits come from logits, grads and params from train";
  if (options.given.count("save") && options.output.empty())
    return error(context) << "--save " << options.save << " says what -o holds; give -o FILE.safetensors";
  return success();
}

static LogicalResult readLossWeights(MLIRContext &context, InterpretOptions &options) {
  for (const std::string &text : options.lossWeightTexts)
    if (io::Status status = io::addLossWeight(text, options.lossWeights); !status.ok())
      return error(context) << "--loss-weight " << status.message();
  return success();
}

LogicalResult mlir::par::completeInterpretOptions(MLIRContext &context, InterpretOptions &options) {
  if (options.model.empty())
    return error(context)
           << "no model given; expected graph.mlir, a Hugging Face folder or config.json (--help)";
  if (options.isGraph() && !options.overrides.empty())
    return error(context) << "--set changes a config; " << options.model << " is a graph, import it again";
  if (options.isGraph() && options.has("dtype"))
    return error(context) << "--dtype is for a config; " << options.model
                          << " is a graph with types of its own";
  if (options.isGraph() && options.has("documents"))
    return error(context) << "--documents is for a config; " << options.model
                          << " is a graph with inputs of its own";
  if (failed(checkActing(context, options)) || failed(checkSchedule(context, options)) ||
      failed(completeSave(context, options)) || failed(readLossWeights(context, options)))
    return failure();
  return completePlan(context, options);
}
