//===- PlanTool.cpp - the command line of par-plan ------------------------------------------------------===//
#include "par/Planner/PlanTool.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/GraphState.h"
#include "par/Compile/PlanFlags.h"
#include "par/Cost/ClusterFile.h"
#include "par/Import/Import.h"
#include "par/Plan/PlanJson.h"
#include "par/Planner/Calibrate.h"
#include "par/Planner/PlanAnswer.h"
#include "par/Planner/PlanPins.h"
#include "par/Register/Register.h"
#include "par/Support/Bytes.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/MakeError.h"
#include "par/Support/OutputFile.h"

using namespace mlir;
using namespace mlir::par;
using llvm::Error;

namespace {
struct PlanOptions {
  std::string model, clusterFile, output;
  std::vector<std::string> overrides, pins;
  PlanRequest request;
  int64_t top = 5;
  double seconds = std::numeric_limits<double>::infinity();
  bool json = false, calibrate = false, compare = false;
  std::set<std::string> given;
  std::map<std::string, std::string> later;
};

struct LaterFlag {
  const char *name, *value, *help;
};
} // namespace

static const LaterFlag kLater[] = {
    {"objective", "time|memory|cost", "what is best"},
    {"report", "FILE.html", "a page with the frontier of time against memory"},
};

static Flags describeFlags(PlanOptions &options) {
  Flags flags("par-plan MODEL --ranks N [--cluster FILE.json] [flags] | par-plan --calibrate -o FILE.json",
              "Finds the plans by which a training step of MODEL (a Hugging Face folder or its config.json) "
              "is shortest on a cluster and fits its memory. Flags that par-compile has decide that part of "
              "the plan; the rest is searched.");
  flags.positional(options.model);
  flags.text("cluster", "FILE.json",
             "the cluster to plan for (docs/Clusters.md; default: this machine, measured once)",
             options.clusterFile);
  flags.integer(
      "ranks", "N", "devices (required)", [&](int64_t value) { options.request.ranks = value; }, 1);
  flags.list("pin", "key=value",
             "decides a part of the plan: pp, dp, tp, or a flag's name, for example zero=1", options.pins);
  flags.integer(
      "top", "N", "plans to print (default: 5)", [&](int64_t value) { options.top = value; }, 1);
  flags.number("seconds", "S",
               "ends the search after so long with the best that it has, once it has one (default: no end)",
               options.seconds, NumberRange{0});
  flags.toggle("compare", "also the best plan of each pure strategy (docs/Planner.md)", options.compare);
  flags.toggle("json", "prints the answer as JSON (docs/Planner.md)", options.json);
  flags.text("o", "FILE.json",
             "writes the best plan, for par-compile --plan; with --calibrate the cluster file",
             options.output);
  flags.toggle("calibrate", "measures this machine and writes it as a cluster file, for --cluster",
               options.calibrate);
  flags.list("set", "key=value", "replaces a key of the config; the value is JSON, else a string",
             options.overrides);
  describePlanFlags(flags, options.request);
  for (const LaterFlag &flag : kLater)
    flags.text(flag.name, flag.value, std::string("not built yet: ") + flag.help, options.later[flag.name]);
  return flags;
}

static int fail(Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
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

static Error checkOptions(PlanOptions &options) {
  for (const LaterFlag &flag : kLater)
    if (options.given.count(flag.name))
      return makeError(std::string("--") + flag.name + " is not built yet; leave it out");
  if (options.calibrate)
    return checkCalibration(options);
  if (!options.given.count("ranks"))
    return makeError("--ranks is missing; par-plan --help says what it takes");
  if (options.model.empty())
    return makeError("no model is given: par-plan MODEL --cluster FILE.json --ranks N");
  if (llvm::StringRef(options.model).ends_with(".mlir"))
    return makeError(options.model +
                     ": the search takes models, graphs are not built yet; give a Hugging Face "
                     "folder or its config.json");
  completeBatch(options);
  if (Error error = takeChip(options.given))
    return error;
  completeChip(options.request.plan, options.given);
  return takePins(options.request, options.given, options.pins);
}

/// Products that the device has no rate for cannot be weighed.
static Error checkTypes(const Plan &plan, const Cluster &cluster) {
  if (plan.dtype != FloatKind::BF16 || cluster.device.products.peakBF16 > 0)
    return Error::success();
  return makeError("--dtype bf16: " + cluster.device.name + " of cluster " + cluster.name +
                   " has none (device.products.peak_bf16_tflops is 0); take --dtype f32, or state its rate");
}

namespace {
/// One search.
class Planning {
public:
  Planning(PlanOptions options, Cluster cluster)
      : options(std::move(options)), cluster(std::move(cluster)),
        context(makeRegistry(), MLIRContext::Threading::DISABLED), handler(&context, printDiagnostic) {
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(false);
  }

  /// Nothing after an error.
  std::optional<SearchResult> search() {
    if (failed(load()))
      return std::nullopt;
    PlanSearch search(context, cluster, options.request, [&](const Plan &plan) { return importFor(plan); });
    SearchResult result = search.run(options.top, options.seconds);
    if (!result.plans.empty())
      return result;
    fail(explainNone(result));
    return std::nullopt;
  }

  int run() {
    std::optional<SearchResult> result = search();
    return result ? print(*result) : 1;
  }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
  LogicalResult load() {
    Plan &plan = options.request.plan;
    import.model = options.model;
    import.overrides = options.overrides;
    import.dtype = getName(plan.dtype).str();
    import.batch = 1;
    import.logits = false;
    if (options.given.count("seq"))
      import.seq = plan.seq;
    FailureOr<ImportPlan> imported = planImport(context, import);
    if (failed(imported))
      return failure();
    import.seq = plan.seq = imported->seq;
    OwningOpRef<ModuleOp> module = importModel(context, import);
    if (!module)
      return failure();
    flops = countModelFlops(*module, static_cast<double>(plan.batch));
    model = hashModel(*module);
    return success();
  }

  OwningOpRef<ModuleOp> importFor(const Plan &plan) {
    ImportOptions other = import;
    other.batch = plan.getGraphBatch();
    return importModel(context, other);
  }

  static std::string suggestRanks(const SearchResult &result) {
    if (result.nearestRanks.empty())
      return "give other --ranks";
    std::string text = "give --ranks ";
    for (int64_t ranks : result.nearestRanks)
      text += (ranks == result.nearestRanks.front() ? "" : " or ") + std::to_string(ranks);
    return text;
  }

  /// Why there is no plan: counts that do not go together, or memory.
  Error explainNone(const SearchResult &result) const {
    const PlanRequest &request = options.request;
    if (result.closest) {
      auto &[plan, bytes] = *result.closest;
      double usable = cluster.getUsableBytes(1);
      return makeError(options.model + ": no plan of " + llvm::Twine(request.ranks) + " ranks fits " +
                       formatBytes(static_cast<int64_t>(usable)) + " per rank of " + cluster.name +
                       "; the one that needs least takes " + formatBytes(static_cast<int64_t>(bytes)) + " (" +
                       printDifference(Plan(), plan) + "); give more --ranks or a smaller --batch or --seq");
    }
    Plan plan = request.plan;
    if (Error error = checkBatch(plan, PlanWords()))
      return error;
    return makeError("--ranks " + llvm::Twine(request.ranks) + ": no mesh of so many ranks divides --batch " +
                     llvm::Twine(request.plan.batch) + " and the model's layers as it is pinned; " +
                     suggestRanks(result) + ", another --batch, or pin less");
  }

  int print(const SearchResult &result) {
    auto top = static_cast<size_t>(options.top);
    if (!options.output.empty()) {
      Plan best = result.plans.front().plan;
      best.model = model;
      std::string text;
      llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", llvm::json::Value(toJson(best)));
      if (Error error = writeOutput(options.output, text))
        return fail(std::move(error));
    }
    std::vector<StrategyRow> rows;
    if (options.compare)
      rows = compareStrategies(
          context, cluster, options.request, [&](const Plan &plan) { return importFor(plan); },
          options.seconds);
    if (options.json) {
      llvm::json::Object answer = describeAnswer(result, cluster, flops, top);
      if (options.compare)
        answer["strategies"] = describeStrategies(rows, cluster, flops);
      llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(answer)));
    } else {
      printAnswer(result, cluster, flops, top, llvm::outs());
      printStrategies(rows, llvm::outs());
    }
    return finishOutput(0);
  }

  PlanOptions options;
  const Cluster cluster;
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  ImportOptions import;
  double flops = 0;  ///< of a step
  std::string model; ///< its hash
};
} // namespace

static int calibrate(const std::string &output) {
  llvm::Expected<Cluster> cluster = measureThisMachine();
  Error error = cluster ? writeCluster(*cluster, output) : cluster.takeError();
  return error ? fail(std::move(error)) : 0;
}

std::optional<PlanReply> mlir::par::findPlan(const PlanQuery &query) {
  PlanOptions options;
  options.model = query.model;
  options.overrides = query.overrides;
  options.request.plan = query.plan;
  options.request.ranks = query.ranks;
  options.given = query.given;
  options.top = 1;
  completeBatch(options);
  llvm::Expected<Cluster> cluster = query.cluster ? *query.cluster : getThisMachine();
  if (!cluster) {
    fail(cluster.takeError());
    return std::nullopt;
  }
  Error error = takePins(options.request, options.given, {});
  if (!error)
    error = checkTypes(options.request.plan, *cluster);
  if (error) {
    fail(std::move(error));
    return std::nullopt;
  }
  std::optional<SearchResult> result = Planning(std::move(options), shareOut(*cluster, query.ranks)).search();
  if (!result)
    return std::nullopt;
  return PlanReply{result->plans.front().plan, std::move(*cluster)};
}

int mlir::par::runPlanTool(int argc, char **argv) {
  PlanOptions options;
  Flags flags = describeFlags(options);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  options.given = flags.getGiven();
  if (Error error = checkOptions(options))
    return fail(std::move(error));
  if (options.calibrate)
    return calibrate(options.output);
  llvm::Expected<Cluster> cluster =
      options.clusterFile.empty() ? getThisMachine() : readCluster(options.clusterFile);
  if (!cluster)
    return fail(cluster.takeError());
  if (Error error = checkTypes(options.request.plan, *cluster))
    return fail(std::move(error));
  Cluster shared = shareOut(*cluster, options.request.ranks);
  return Planning(std::move(options), std::move(shared)).run();
}
