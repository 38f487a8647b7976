//===- PlanTool.cpp - the command line of par-plan ------------------------------------------------------===//
#include "par/Planner/PlanTool.h"
#include "ClusterTarget.h"
#include "Planning.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/PlanFlags.h"
#include "par/Compile/Proof.h"
#include "par/Cost/ClusterFile.h"
#include "par/Cost/OwnSteps.h"
#include "par/Planner/Calibrate.h"
#include "par/Planner/PlanPins.h"
#include "par/Source/Plugins.h"
#include "par/Support/Bytes.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/MakeError.h"

using namespace mlir;
using namespace mlir::par;
using llvm::Error;

/// Each compiles in a context of its own, and more than cores take longer.
static constexpr int64_t kMostWorkers = 256;

static Objective parseObjective(llvm::StringRef name) {
  return name == "time" ? Objective::Time : name == "memory" ? Objective::Memory : Objective::Cost;
}

static Error parseMemoryLimit(PlanRequest &request, llvm::StringRef text) {
  llvm::Expected<int64_t> bytes = parseBytes(text);
  if (!bytes)
    return makeError(": " + llvm::toString(bytes.takeError()));
  request.memoryLimit = static_cast<double>(*bytes);
  return Error::success();
}

static void describeSearch(Flags &flags, PlanOptions &options) {
  flags.section("What is searched");
  flags.text("cluster", "FILE.json",
             "the cluster to plan for (docs/Clusters.md), or a name that par knows: dgx-h100 (default: this "
             "machine, "
             "measured once)",
             options.clusterFile);
  flags.integer("ranks", "N", "devices (required)", [&](int64_t value) { options.request.ranks = value; }, 1);
  flags.parsed(
      "memory-limit", "SIZE",
      "most memory of a rank (80GiB, 500MB, or bytes), where that is less than the cluster's devices "
      "have",
      [&](llvm::StringRef text) { return parseMemoryLimit(options.request, text); });
  describeHeadroomFlag(flags, options.headroom, "plans");
  flags.list("pin", "key=value",
             "decides a part of the plan: pp, dp, tp, or a flag's name, for example zero=1", options.pins);
  flags.choice(
      "objective", {"time", "memory", "cost"},
      "what is best: the shortest step, least memory of a rank, or least seconds times ranks, of up to "
      "--ranks (default: time)",
      [&](llvm::StringRef name) { options.request.objective = parseObjective(name); });
  flags.number("seconds", "S",
               "ends the search after so long with the best that it has, once it has one (default: no end)",
               options.seconds, NumberRange{0});
  flags.integer(
      "workers", "N", "threads that search; the answer is the same (default: one for each core)",
      [&](int64_t value) { options.workers = value; }, 1);
}

static void describeAnswer(Flags &flags, PlanOptions &options) {
  flags.section("What is shown and written");
  flags.integer("top", "N", "plans to print (default: 5)", [&](int64_t value) { options.top = value; }, 1);
  flags.toggle("compare", "also the best plan of each pure strategy (docs/Planner.md)", options.compare);
  flags.toggle("json", "prints the answer as JSON (docs/Planner.md)", options.json);
  describeProofFlag(flags, options.proof);
  flags.text("report", "FILE.html",
             "writes a page: step time against memory, and the best plan's step over time", options.report);
  flags.text("o", "FILE.json",
             "writes the best plan, for par-compile --plan; with --calibrate the cluster file",
             options.output);
  flags.toggle("calibrate", "measures this machine and writes it as a cluster file, for --cluster",
               options.calibrate);
}

static Flags describeFlags(PlanOptions &options) {
  Flags flags("par-plan MODEL --ranks N [--cluster FILE.json] [flags] | par-plan --calibrate -o FILE.json",
              "Finds the plans by which a training step of MODEL (a Hugging Face folder, its config.json or "
              "a graph.mlir) is shortest on a cluster and fits its memory. Flags that par-compile has decide "
              "that part of "
              "the plan; the rest is searched.");
  flags.positional(options.model);
  flags.first({"ranks", "cluster", "batch", "seq", "o"});
  describeSearch(flags, options);
  describeAnswer(flags, options);
  flags.section("The model");
  describePluginFlag(flags, options.plugins);
  flags.list("set", "key=value", "replaces a key of the config; the value is JSON, else a string",
             options.overrides);
  describePlanFlags(flags, options.request);
  flags.files({"cluster"}, {"report", "o"});
  return flags;
}

static int fail(Error error) {
  printError(std::move(error));
  return 1;
}

/// Sequences of a step, where nothing says it: as many for each rank as par-compile has for each of data
/// parallelism.
static void completeBatch(PlanOptions &options) {
  if (!options.given.count("batch"))
    options.request.plan.batch = 8 * options.request.ranks;
}

/// A machine is measured for all models and plans.
static Error checkCalibration(const PlanOptions &options) {
  if (options.output.empty())
    return makeError("--calibrate needs -o FILE.json: where to write this machine's cluster file");
  if (!options.model.empty() || options.given.size() != 2)
    return makeError("--calibrate measures this machine for all models and plans; give it with -o alone");
  return Error::success();
}

/// What is known without cluster and model. The sequences of a graph are its own.
static Error checkRequest(PlanOptions &options) {
  if (Error error = takePins(options.request, options.given, options.pins))
    return error;
  completeBatch(options);
  return openModel(options.model)->isGraph() ? Error::success()
                                             : checkBatch(options.request.plan, PlanWords());
}

static Error checkOptions(PlanOptions &options) {
  if (options.calibrate)
    return checkCalibration(options);
  if (!options.given.count("ranks"))
    return makeError("--ranks is missing; par-plan --help says what it takes");
  if (options.model.empty())
    return makeError("no model is given: par-plan MODEL --cluster FILE.json --ranks N");
  if (options.workers > kMostWorkers)
    return makeError("--workers is '" + llvm::Twine(options.workers) + "', expected an integer from 1 to " +
                     llvm::Twine(kMostWorkers));
  return takeChip(options.given);
}

/// Neither more ranks than devices nor products that the device has no rate for can be weighed.
static Error fitToCluster(PlanOptions &options, const Cluster &cluster) {
  const Plan &plan = options.request.plan;
  if (Error error = checkDevices(cluster, options.clusterFile, options.request.ranks))
    return error;
  options.request.hasHost = !cluster.device.isShared;
  if (plan.dtype != FloatKind::BF16 || cluster.device.products.peakBF16 > 0)
    return Error::success();
  return makeError("--dtype bf16: " + cluster.device.name + " of cluster " + cluster.name +
                   " has none (device.products.peak_bf16_tflops is 0); take --dtype f32, or state its rate");
}

static Headroom getHeadroom(const PlanOptions &options, const Cluster &cluster) {
  bool isUsual = cluster.target == TargetKind::Cuda && options.request.memoryLimit == PlanRequest::kNoLimit;
  return options.headroom.value_or(isUsual ? kUsualHeadroom : Headroom());
}

/// GPUs train in bf16, where nothing says another type. A graph keeps its own.
static void completeType(PlanOptions &options, const Cluster &cluster) {
  bool hasBF16 = cluster.target == TargetKind::Cuda && cluster.device.products.peakBF16 > 0;
  if (hasBF16 && !options.given.count("dtype") && !openModel(options.model)->isGraph())
    options.request.plan.dtype = FloatKind::BF16;
}

/// The cluster that is asked for, else this machine, which is measured when all that can be checked without
/// is right: that takes seconds.
static llvm::Expected<Cluster> takeCluster(PlanOptions &options, std::optional<Cluster> asked) {
  Cluster processors;
  processors.name = "this machine";
  Error error = takeClusterTarget(options.request.plan, options.given, asked ? *asked : processors);
  completeType(options, asked ? *asked : processors);
  if (!error)
    error = checkRequest(options);
  if (error)
    return std::move(error);
  llvm::Expected<Cluster> cluster = asked ? std::move(*asked) : getThisMachine();
  if (!cluster)
    return cluster;
  if (Error error = fitToCluster(options, *cluster))
    return std::move(error);
  takeOwnFactor(*cluster, options.request.plan.dtype);
  cluster->headroom = getHeadroom(options, *cluster).of(cluster->device.memoryBytes);
  return cluster;
}

static int calibrate(const std::string &output) {
  llvm::Expected<MeasuredMachine> measured = measureThisMachine();
  Error error = measured ? writeCluster(measured->cluster, output) : measured.takeError();
  if (!error && !measured->whyBusy.empty())
    printNote("this machine is busy: " + measured->whyBusy + "; measure it again when it is idle");
  return error ? fail(std::move(error)) : 0;
}

std::optional<PlanReply> mlir::par::findPlan(const PlanQuery &query) {
  PlanOptions options;
  options.model = query.model;
  options.overrides = query.overrides;
  options.clusterFile = query.clusterFile;
  options.request.plan = query.plan;
  options.request.ranks = query.ranks;
  if (query.memoryLimit)
    options.request.memoryLimit = static_cast<double>(query.memoryLimit);
  options.headroom = query.headroom;
  options.given = query.given;
  options.top = 1;
  llvm::Expected<Cluster> cluster = takeCluster(options, query.cluster);
  if (!cluster) {
    fail(cluster.takeError());
    return std::nullopt;
  }
  Planning planning(std::move(options), *cluster);
  std::optional<SearchResult> result = planning.search();
  if (!result)
    return std::nullopt;
  for (const std::string &note : listNotes(*result, planning.getFacts()))
    printNote(note);
  return PlanReply{result->getPlainest().plan, std::move(*cluster)};
}

int mlir::par::runPlanTool(int argc, char **argv) {
  PlanOptions options;
  Flags flags = describeFlags(options);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  options.given = flags.getGiven();
  if (Error error = loadPlugins(options.plugins))
    return fail(std::move(error));
  if (Error error = checkOptions(options))
    return fail(std::move(error));
  if (options.calibrate)
    return calibrate(options.output);
  std::optional<Cluster> asked;
  if (!options.clusterFile.empty()) {
    llvm::Expected<Cluster> read = readCluster(options.clusterFile);
    if (!read)
      return fail(read.takeError());
    asked = std::move(*read);
  }
  llvm::Expected<Cluster> cluster = takeCluster(options, std::move(asked));
  if (!cluster)
    return fail(cluster.takeError());
  // The process ends. To take all modules apart before takes a twentieth of the time, and a thread may be at
  // a plan that nobody waits for.
  auto *planning = new Planning(std::move(options), *cluster);
  int status = planning->run();
  llvm::outs().flush();
  std::_Exit(status);
}
