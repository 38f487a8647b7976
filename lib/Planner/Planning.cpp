//===- Planning.cpp - the best plans of one model, found and told ---------------------------------------===//
#include "Planning.h"
#include "PlanReport.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/PlanFlags.h"
#include "par/Plan/PlanJson.h"
#include "par/Planner/BatchAdvice.h"
#include "par/Planner/CheckPins.h"
#include "par/Planner/MemoryAdvice.h"
#include "par/Planner/PlainPlan.h"
#include "par/Support/Bytes.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/MakeError.h"
#include "par/Support/OutputFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::par;
using llvm::Error;

static int64_t countThreads(const PlanOptions &options) {
  return options.workers > 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency());
}

Planning::Planning(PlanOptions asked, const Cluster &whole)
    : options(std::move(asked)), whole(whole), cluster(shareOut(whole, options.request.ranks)),
      workers(
          cluster, [this](MLIRContext &into, const Plan &plan) { return model.importInto(into, plan); },
          countThreads(options)) {}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// Of two searches; the best first.
static SearchResult merge(SearchResult one, SearchResult other, Objective objective) {
  auto best = [&](const SearchResult &result) {
    return result.plans.empty() ? SearchLimits::kNone : getObjective(result.plans.front(), objective);
  };
  if (best(other) < best(one))
    std::swap(one, other);
  one.weighed += other.weighed;
  one.estimated += other.estimated;
  one.compiled += other.compiled;
  if (other.bound)
    one.bound = std::min(one.bound.value_or(SearchLimits::kNone), *other.bound);
  one.end = std::max(one.end, other.end);
  std::vector<FoundPlan> merged;
  std::merge(one.plans.begin(), one.plans.end(), other.plans.begin(), other.plans.end(),
             std::back_inserter(merged), [&](const FoundPlan &left, const FoundPlan &right) {
               return getObjective(left, objective) < getObjective(right, objective);
             });
  one.plans = std::move(merged);
  return one;
}

/// Also with fewer ranks, by which the request's can be divided.
SearchResult Planning::searchFewer(PlanSearch &search, const SearchLimits &limits) {
  Objective objective = options.request.objective;
  SearchResult result = search.run(limits);
  for (int64_t ranks = options.request.ranks / 2; ranks > 0; --ranks) {
    if (options.request.ranks % ranks)
      continue;
    PlanRequest fewer = options.request;
    fewer.ranks = ranks;
    Cluster shared = shareOut(whole, ranks);
    std::optional<PlanWorkers> own; // of ranks that see another device
    if (whole.device.isShared)
      own.emplace(
          shared, [this](MLIRContext &into, const Plan &plan) { return model.importInto(into, plan); },
          workers.countThreads());
    SearchLimits better = limits;
    if (!result.plans.empty())
      better.known = getObjective(result.plans.front(), objective);
    SearchResult next = PlanSearch(own ? *own : workers, shared, fewer).run(better);
    result = merge(std::move(result), std::move(next), objective);
  }
  return result;
}

static std::string suggestRanks(ArrayRef<int64_t> nearest) {
  if (nearest.empty())
    return "give other --ranks";
  std::string text = "give --ranks ";
  for (int64_t ranks : nearest)
    text += (ranks == nearest.front() ? "" : " or ") + std::to_string(ranks);
  return text;
}

/// Of the plan that comes closest: what it needs, on which stage.
static std::string describeLeast(const FoundPlan &least, double usable) {
  const std::vector<StageSize> &stages = least.size.stages;
  auto fullest = llvm::max_element(stages, [](auto &one, auto &other) { return one.peak < other.peak; });
  std::string text = "the one that needs least takes " + formatBytes(fullest->peak);
  if (stages.size() > 1)
    text += " on stage " + std::to_string(fullest - stages.begin());
  if (static_cast<double>(fullest->peak) > usable)
    text += ", " + formatBytes(fullest->peak - static_cast<int64_t>(usable)) + " too much";
  return text + " (" + printDifference(Plan(), least.plan) + ")";
}

std::string Planning::suggestSavings(const std::optional<FoundPlan> &least) {
  std::string text;
  if (least)
    for (const MemorySaving &saving : listMemorySavings(workers, *least, model.getLargestParameter()))
      text += (text.empty() ? "" : ", ") + saving.flags + " saves " + formatBytes(saving.bytes);
  return text;
}

Error Planning::explainMemory(const Plan &closest, const std::optional<FoundPlan> &least,
                              PlanSearch &search) {
  double usable = std::max(0.0, search.getUsableBytes(least ? least->plan : closest));
  bool isLimited = usable == options.request.memoryLimit;
  std::string text = options.model + ": no plan of " + std::to_string(options.request.ranks) +
                     (options.request.ranks == 1 ? " rank fits " : " ranks fits ") +
                     (isLimited ? "--memory-limit " : "") + formatBytes(static_cast<int64_t>(usable)) +
                     " per rank of " + cluster.name;
  if (least)
    text += "; " + describeLeast(*least, usable);
  if (std::string savings = suggestSavings(least); !savings.empty())
    text += "; " + savings;
  text += "; give ";
  if (std::optional<int64_t> ranks = search.findEnoughRanks())
    text += "--ranks " + std::to_string(*ranks) + " or more, ";
  return makeError(text + "a smaller --batch or --seq, or " +
                   (isLimited ? "a larger --memory-limit" : "devices with more memory"));
}

/// Why there is no plan: counts that do not go together, or memory.
Error Planning::explainNone(const SearchResult &result, const std::optional<FoundPlan> &least,
                            PlanSearch &search) {
  const PlanRequest &request = options.request;
  if (result.closest)
    return explainMemory(result.closest->first, least, search);
  if (Error error = checkBatch(request.plan, PlanWords()))
    return error;
  std::string ranks = "--ranks " + std::to_string(request.ranks);
  std::vector<int64_t> nearest = search.findNearestRanks();
  if (std::string reason = explainNoPlan(request, countUnits()); nearest.empty() && !reason.empty())
    return makeError(ranks + " " + reason);
  return makeError(ranks + ": no mesh of so many ranks divides --batch " + llvm::Twine(request.plan.batch) +
                   " and the model's layers as it is pinned; " + suggestRanks(nearest) +
                   ", another --batch, or pin less");
}

void Planning::show(const char *doing) {
  progress.doing = doing;
  if (!status)
    status.emplace([this] { return progress.describe(); });
}

int Planning::fail(Error error) {
  status.reset();
  printError(std::move(error));
  return 1;
}

int64_t Planning::countUnits() {
  return static_cast<int64_t>(workers.getUnits(options.request.plan).kinds.size());
}

/// Tables are made of each kind of layer once.
void Planning::noteKinds() {
  std::vector<int64_t> kinds = workers.getUnits(options.request.plan).kinds;
  llvm::sort(kinds);
  if (!kinds.empty() && std::adjacent_find(kinds.begin(), kinds.end()) == kinds.end())
    printNote(options.model +
              ": no layers repeat, so that each is weighed by itself and the search takes longer");
}

void Planning::noteAssumptions() const {
  const Plan &plan = options.request.plan;
  std::vector<std::string> assumed;
  auto add = [&](const char *flag, const std::string &value) {
    if (!options.given.count(flag))
      assumed.push_back(std::string("--") + flag + " " + value);
  };
  if (options.request.isGraph)
    return;
  add("dtype", getName(plan.dtype).str());
  add("seq", std::to_string(plan.seq));
  add("batch", std::to_string(plan.batch));
  if (!assumed.empty())
    printNote("assumed, as nothing says it: " + llvm::join(assumed, ", "));
}

SearchResult Planning::find(const SearchLimits &limits) {
  const PlanRequest &request = options.request;
  finder.emplace(workers, cluster, request);
  SearchResult result =
      request.objective == Objective::Cost ? searchFewer(*finder, limits) : finder->run(limits);
  if (result.plans.empty())
    return result;
  result.plainest = findPlainest(result.plans, request.objective, limits.plainerWithin);
  if (double left = limits.seconds - progress.getSeconds(); left > 0) {
    show("trying other batches");
    batches = adviseBatch(workers, cluster, request, result.plans.front(), limits.plainerWithin, left);
  }
  return result;
}

std::optional<SearchResult> Planning::search() {
  if (failed(model.load(options.model, options.overrides, options.given, options.request)))
    return std::nullopt;
  if (Error error = checkPinnedUnits(options.request, countUnits())) {
    fail(std::move(error));
    return std::nullopt;
  }
  noteKinds();
  show("weighing plans");
  SearchLimits limits;
  limits.progress = &progress;
  limits.top = options.top;
  limits.seconds = options.seconds;
  if (options.request.objective != Objective::Memory)
    limits.plainerWithin = getClaim().getComparisonError();
  SearchResult result = find(limits);
  if (result.plans.empty()) {
    show("nothing fits, looking for what would");
    std::optional<FoundPlan> least = result.closest ? finder->findLeast() : std::nullopt;
    if (!least || !finder->fitsCompiled(*least)) {
      fail(explainNone(result, least, *finder));
      return std::nullopt;
    }
    result.plans.push_back(std::move(*least)); // estimates were further off than the search allows for
  }
  status.reset();
  noteAssumptions();
  return result;
}

//===----------------------------------------------------------------------===//
// The answer
//===----------------------------------------------------------------------===//

AnswerFacts Planning::getFacts() const {
  return {cluster, model.getFlops(), options.request.objective, getClaim(), batches};
}

Error Planning::writePlan(const SearchResult &result) const {
  Plan plan = result.getPlainest().plan;
  plan.model = model.getHash();
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", llvm::json::Value(toJson(plan)));
  return writeOutput(options.output, text);
}

Error Planning::writeReport(const SearchResult &result, ArrayRef<StrategyRow> rows) {
  PlanReport report{options.model, result, rows, getFacts(), 1, {}, {}};
  report.top = static_cast<size_t>(options.top);
  show("drawing step time against memory");
  report.frontier = findFrontier(workers, cluster, options.request, options.seconds);
  report.steps = workers.draw(result.getPlainest().plan);
  return writeOutput(options.report, printReport(report));
}

Error Planning::prove(const SearchResult &result) {
  if (!options.proof)
    return Error::success();
  show("proving the plan");
  std::string fault = workers.findFault(result.getPlainest().plan);
  status.reset();
  return fault.empty() ? Error::success() : makeError(options.model + ": " + fault);
}

int Planning::run() {
  std::optional<SearchResult> result = search();
  if (!result)
    return 1;
  if (Error error = prove(*result))
    return fail(std::move(error));
  if (!options.output.empty())
    if (Error error = writePlan(*result))
      return fail(std::move(error));
  std::vector<StrategyRow> rows;
  if (options.compare) {
    show("comparing strategies");
    rows = compareStrategies(workers, cluster, options.request, options.seconds);
  }
  if (!options.report.empty())
    if (Error error = writeReport(*result, rows))
      return fail(std::move(error));
  status.reset();
  AnswerFacts facts = getFacts();
  auto top = static_cast<size_t>(options.top);
  if (options.json) {
    llvm::json::Object answer = describeAnswer(*result, facts, top);
    if (options.compare)
      answer["strategies"] = describeStrategies(rows, facts);
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(answer)));
  } else {
    printVisible(llvm::outs(), [&](llvm::raw_ostream &os) {
      printAnswer(*result, facts, top, os);
      printStrategies(rows, os);
    });
  }
  return finishOutput(0);
}
