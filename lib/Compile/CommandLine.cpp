//===- CommandLine.cpp - the flags of par-compile -------------------------------------------------------===//
#include "CommandLine.h"
#include "Compiler.h"
#include "par/Compile/CompileTool.h"
#include "par/Compile/PlanFlags.h"
#include "par/Compile/Proof.h"
#include "par/Source/Plugins.h"
#include "par/Support/ErrorLine.h"

using namespace mlir::par;

static void describeSearch(Flags &flags, CompileOptions &options) {
  flags.integer(
      "ranks", "N",
      "finds the best plan for N devices of --cluster, or N ranks on this machine, which is then measured "
      "once, as "
      "par-plan does; flags that decide a part of it stay",
      [&](int64_t value) { options.ranks = value; }, 1);
  flags.text(
      "cluster", "FILE.json",
      "what --ranks plans for, and the step is predicted for (docs/Clusters.md); or a name that par knows: "
      "dgx-h100",
      options.clusterFile);
  flags.text("memory-limit", "SIZE",
             "refuses a plan that needs more memory per rank (80GiB, 500MB, or bytes), says what is live at "
             "its peak and which flags would make it fit; --ranks finds none that needs more",
             options.memoryLimitText);
  describeHeadroomFlag(flags, options.headroom, "plans of --ranks");
}

static void describeOutputs(Flags &flags, CompileOptions &options) {
  flags.toggle("explain",
               "prints for every collective its bytes, axes and cause, what is live at the peak, and what "
               "every stage does when, by the cost model",
               options.explain);
  flags.text("report", "FILE.html",
             "writes a page: what stages do and hold over the step, and the collectives", options.report);
  flags.text("timeline", "FILE.json",
             "writes what every stage does when in a step, by the cost model, for Perfetto or Chrome",
             options.timeline);
  flags.text(
      "emulate-kernels", "GFLOPS,GBPS",
      "what --timeline, --explain and --report predict for: the device that par-run --emulate-kernels is",
      options.kernelRates);
  flags.text("emulate-link", "GBps,us", "the same for the link of par-run --emulate-link", options.linkRates);
  describeProofFlag(flags, options.proof);
  flags.text("save-ir", "DIR", "writes the module after every phase", options.saveIr);
  flags.text("from", "PHASE", "the graph.mlir given is what --save-ir wrote before PHASE: begin there",
             options.from);
  flags.text("to", "PHASE",
             "stop after PHASE and print the module (import annotate propagate cut differentiate "
             "partition overlap lower)",
             options.to);
  flags.toggle(
      "cudnn-plans",
      "lets the cuDNN of this machine plan attention, so that a run with the same cuDNN need not; no "
      "GPU is needed",
      options.cudnnPlans);
  flags.toggle("dry-run", "stops before machine code and prints the summary", options.dryRun);
}

Flags mlir::par::describeFlags(CompileOptions &options) {
  Flags flags("par-compile MODEL|graph.mlir -o DIR.par [flags]",
              "Compiles a training step of MODEL (a Hugging Face folder, its config.json, or a graph in the "
              "par dialect) to a "
              "package of native programs, one per distinct rank, for par-run.");
  flags.positional(options.model);
  flags.first({"o", "batch", "seq", "mesh", "ranks"});
  flags.section("A model, and where its plan is");
  flags.text("o", "DIR.par", "package to write", options.output);
  flags.list("set", "key=value", "replaces a key of the config; the value is JSON, else a string",
             options.overrides);
  describePluginFlag(flags, options.plugins);
  flags.text(
      "plan", "FILE",
      "takes the plan from a file, in place of all flags that decide it: a package, or what par-plan -o "
      "wrote",
      options.planFile);
  flags.section("A step, and its ranks");
  describeModelFlags(flags, options.plan);
  flags.section("A plan that is found, and limits");
  describeSearch(flags, options);
  flags.section("What is trained");
  describeTrainingFlags(flags, options.plan);
  flags.section("How tensors are divided");
  describeShardingFlags(flags, options.plan);
  describeSearchFlags(flags, options.plan);
  flags.section("How programs run: overlap, memory, pipelines, target");
  describeProgramFlags(flags, options.plan);
  flags.section("What is shown and written");
  describeOutputs(flags, options);
  flags.files({"plan", "cluster"}, {"report", "timeline"});
  flags.elsewhere({"steps",     "data",        "data-dtype",   "weights",      "seed",
                   "lr",        "lr-schedule", "warmup-steps", "decay-steps",  "min-lr",
                   "beta1",     "beta2",       "eps",          "weight-decay", "clip-grad-norm",
                   "metrics",   "eval-data",   "eval-every",   "checkpoint",   "checkpoint-every",
                   "keep",      "resume",      "save-params",  "save-grads",   "shuffle",
                   "transport", "loss-weight", "input"},
                  "par-run takes it; it may differ from run to run of a package");
  return flags;
}

/// The plan that is found counts as given.
static llvm::LogicalResult planRanks(CompileOptions &options, const FindPlan &findPlan) {
  if (!options.ranks)
    return llvm::success();
  std::optional<PlanReply> found =
      findPlan({options.model, options.overrides, options.ranks, options.cluster, options.clusterFile,
                options.plan, options.given, options.memoryLimit, options.headroom});
  if (!found)
    return llvm::failure();
  options.plan = std::move(found->plan);
  options.cluster = std::move(found->cluster);
  for (const char *flag : {"batch", "seq", "chunks"})
    options.given.insert(flag);
  printNote(printDifference(Plan(), options.plan));
  return llvm::success();
}

int mlir::par::runCompileTool(int argc, char **argv, llvm::StringRef launcher, const FindPlan &findPlan) {
  CompileOptions options;
  Flags flags = describeFlags(options);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  options.given = flags.getGiven();
  llvm::Error error = loadPlugins(options.plugins);
  if (!error)
    error = checkOptions(options);
  if (error) {
    printError(std::move(error));
    return 1;
  }
  if (failed(planRanks(options, findPlan)))
    return 1;
  return compile(options, launcher);
}
