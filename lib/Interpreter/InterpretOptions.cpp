//===- InterpretOptions.cpp - the flags of par-interpret, checked against each other ----------------===//
#include "InterpretGraph.h"
#include "par/Sharding/MeshAxes.h"

using namespace mlir;
using namespace mlir::par;

static InFlightDiagnostic error(MLIRContext &context) { return emitError(UnknownLoc::get(&context)); }

/// Axes along which nothing would be split: ranks would only repeat each other's work.
static LogicalResult checkAxes(MLIRContext &context, InterpretOptions &options) {
  for (StringRef axis : {"pp", "cp", "ep"})
    for (StringRef entry : llvm::split(options.mesh, ','))
      if (auto [name, size] = entry.split('='); name == axis && size != "1")
        return error(context) << "--mesh " << options.mesh << ": " << entry
                              << " is not built yet; dp and tp are";
  return success();
}

static LogicalResult completeMesh(MLIRContext &context, InterpretOptions &options) {
  if (failed(checkAxes(context, options)))
    return failure();
  if (options.ranks && options.mesh.empty())
    options.mesh = "dp=" + std::to_string(*options.ranks);
  llvm::Expected<NamedAxes> axes = parseMeshAxes(options.mesh);
  if (!axes)
    return error(context) << "mesh: " << llvm::toString(axes.takeError());
  int64_t ranks = 1;
  for (auto &[name, size] : *axes)
    ranks *= size;
  if (options.ranks && ranks != *options.ranks)
    return error(context) << "--ranks " << *options.ranks << " but --mesh " << options.mesh << " has "
                          << ranks << " ranks; give one of them";
  return success();
}

/// What the mesh leaves nothing to do for is accepted with a note, as by par-compile.
static LogicalResult dropIdle(MLIRContext &context, InterpretOptions &options) {
  if (options.zero3Gather == "per-step" && options.zero != "3")
    return error(context) << "--zero3-gather per-step says when ZeRO-3 gathers parameters; give --zero 3";
  NamedAxes axes = llvm::cantFail(parseMeshAxes(options.mesh));
  std::vector<std::string> idle;
  if (options.zero != "0" && countStateRanks(axes) == 1) {
    idle.push_back("--zero " + std::exchange(options.zero, "0"));
    options.zero3Gather = "per-micro-batch";
  }
  bool hasTensorRanks = llvm::any_of(axes, [](auto &axis) { return axis.first == "tp" && axis.second > 1; });
  if (options.sequenceParallel && !hasTensorRanks) {
    idle.push_back("--sequence-parallel");
    options.sequenceParallel = false;
  }
  if (!idle.empty())
    llvm::errs() << "note: " << llvm::join(idle, ", ") << ": no effect on "
                 << (options.mesh.empty() ? "one rank" : "--mesh " + options.mesh) << "\n";
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
                     "split-backward"},
                    "belongs to training, and --function logits trains nothing")))
    return failure();
  if (options.optimizer == "sgd" &&
      failed(refuse(context, options, {"beta1", "beta2", "eps"}, "is AdamW's, but --optimizer is sgd")))
    return failure();
  if (options.optimizer == "sgd" && options.momentType != "f32")
    return error(context) << "--moment-dtype: is AdamW's, but --optimizer is sgd; leave it out";
  if (options.lrSchedule == "constant" && failed(refuse(context, options, {"decay-steps", "min-lr"},
                                                        "is the cosine's, but --lr-schedule is constant")))
    return failure();
  if (options.data == "random" && failed(refuse(context, options, {"data-dtype"},
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

LogicalResult par::completeInterpretOptions(MLIRContext &context, InterpretOptions &options) {
  if (options.model.empty())
    return error(context)
           << "no model given; expected graph.mlir, a Hugging Face folder or config.json (--help)";
  if (options.isGraph() && !options.overrides.empty())
    return error(context) << "--set changes a config; " << options.model << " is a graph, import it again";
  if (options.isGraph() && !options.dtype.empty())
    return error(context) << "--dtype is for a config; " << options.model
                          << " is a graph with types of its own";
  if (failed(checkActing(context, options)) || failed(checkSchedule(context, options)) ||
      failed(completeSave(context, options)) || failed(completeMesh(context, options)))
    return failure();
  return dropIdle(context, options);
}
