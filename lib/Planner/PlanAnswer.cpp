//===- PlanAnswer.cpp - what a search says --------------------------------------------------------------===//
#include "par/Planner/PlanAnswer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Compile/PlanFlags.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Planner/PlanGap.h"
#include "par/Support/Bytes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Operations of the model
//===----------------------------------------------------------------------===//

static double countFlops(func::FuncOp function, const SymbolTable &symbols) {
  double flops = 0;
  for (Operation &op : function.front()) {
    if (auto call = dyn_cast<CallOp>(op))
      flops += countFlops(symbols.lookup<func::FuncOp>(call.getCallee()), symbols);
    else if (auto attention = dyn_cast<AttentionOp>(op))
      flops += cast<CostOpInterface>(op).getFlops() * (attention.getCausal() ? 0.5 : 1);
    else if (isa<EinsumOp>(op))
      flops += cast<CostOpInterface>(op).getFlops();
  }
  return flops;
}

double par::countModelFlops(ModuleOp module, double batch) {
  SymbolTable symbols(module);
  double flops = 0, rows = 1;
  for (func::FuncOp function : ChunkFunctions(module).getAll(Phase::Forward)) {
    flops += countFlops(function, symbols);
    for (BlockArgument argument : function.getArguments())
      if (getInput(function, argument.getArgNumber()) == InputKind::Tokens)
        rows = static_cast<double>(cast<RankedTensorType>(argument.getType()).getDimSize(0));
  }
  // Two products of backward for each of forward.
  return 3 * flops / rows * batch;
}

//===----------------------------------------------------------------------===//
// One plan
//===----------------------------------------------------------------------===//

namespace {
/// What is printed of a plan, in every form.
struct PlanFacts {
  PlanFacts(const FoundPlan &found, const Cluster &cluster, double flops) {
    const ProductRates &rates = cluster.device.products;
    double peak = found.plan.dtype == FloatKind::BF16 ? rates.peakBF16 : rates.peakF32;
    tokensPerSecond = static_cast<double>(found.plan.batch * found.plan.seq) / found.seconds;
    mfu = flops / (found.seconds * peak * static_cast<double>(found.plan.countRanks()));
    exposed = found.terms.tensor + found.terms.data + found.terms.transfers;
    flags = printDifference(Plan(), found.plan);
  }
  double tokensPerSecond, mfu, exposed;
  std::string flags;
};
} // namespace

static json::Object describePlan(const FoundPlan &found, const Cluster &cluster, double flops) {
  PlanFacts facts(found, cluster, flops);
  json::Array mesh, memory;
  for (auto &[axis, size] : found.plan.mesh)
    mesh.push_back(json::Array{axis, size});
  for (auto [stage, size] : llvm::enumerate(found.size.stages))
    memory.push_back(json::Object{{"stage", static_cast<int64_t>(stage)}, {"peak_bytes", size.peak}});
  json::Object terms;
  TimeTerms::visit([&](const char *name, double seconds) { terms[name] = seconds; }, found.terms);
  return json::Object{{"mesh", std::move(mesh)},
                      {"flags", facts.flags},
                      {"step_seconds", found.seconds},
                      {"tokens_per_second", facts.tokensPerSecond},
                      {"mfu", facts.mfu},
                      {"memory", std::move(memory)},
                      {"bubble", found.bubble},
                      {"exposed", facts.exposed},
                      {"terms", std::move(terms)}};
}

static json::Object describeGap(const PlanGap &gap) {
  json::Object terms;
  for (auto &[name, seconds] : gap.terms)
    terms[name] = seconds;
  return json::Object{{"seconds", gap.seconds}, {"share", gap.share}, {"terms", std::move(terms)}};
}

json::Object par::describeAnswer(const SearchResult &result, const Cluster &cluster, double flops,
                                 size_t top) {
  json::Array plans;
  for (const FoundPlan &found : llvm::ArrayRef(result.plans).take_front(top))
    plans.push_back(describePlan(found, cluster, flops));
  for (size_t number = 1; number < plans.size(); ++number)
    (*plans[number].getAsObject())["behind"] =
        describeGap(findGap(result.plans.front(), result.plans[number]));
  json::Object answer{{"cluster", cluster.name},
                      {"weighed", result.weighed},
                      {"estimated", result.estimated},
                      {"compiled", result.compiled},
                      {"claimed_error", getClaimedError(cluster)},
                      {"plans", std::move(plans)}};
  json::Array levers;
  for (const MemoryLever &lever : result.levers)
    levers.push_back(json::Object{{"flags", lever.flags},
                                  {"stage", lever.stage},
                                  {"short_bytes", static_cast<int64_t>(lever.shortBytes)},
                                  {"share", lever.share}});
  answer["levers"] = std::move(levers);
  if (result.bound)
    answer["bound_seconds"] = *result.bound;
  return answer;
}

static void printGap(const PlanGap &gap, llvm::raw_ostream &os) {
  if (gap.terms.empty()) {
    os << "   as quick as the first\n";
    return;
  }
  os << llvm::formatv("   {0:f1} % behind the first:", 100 * gap.share);
  for (auto &[name, seconds] : gap.terms)
    os << llvm::formatv(" {0} {1}{2:f3} s", name, seconds < 0 ? "" : "+", seconds);
  os << "\n";
}

/// Whether the first plan is the best one for sure, as far as predictions go.
static void printCertainty(const SearchResult &result, const Cluster &cluster, llvm::raw_ostream &os) {
  if (result.plans.size() < 2)
    return;
  double share = findGap(result.plans[0], result.plans[1]).share, error = getClaimedError(cluster);
  os << llvm::formatv(
      "the second is {0:f1} % behind, {1} than predictions are off on average ({2:f1} %){3}\n", 100 * share,
      share < error ? "less" : "more", 100 * error, share < error ? ": measure both" : "");
}

void par::printAnswer(const SearchResult &result, const Cluster &cluster, double flops, size_t top,
                      llvm::raw_ostream &os) {
  os << llvm::formatv("{0} plans weighed for {1}, {2} estimated, {3} compiled\n", result.weighed,
                      cluster.name, result.estimated, result.compiled);
  if (result.bound)
    os << llvm::formatv("time ran out: what was not looked at to the end takes at least {0:f3} s a step\n",
                        *result.bound);
  int64_t number = 0;
  for (const FoundPlan &found : llvm::ArrayRef(result.plans).take_front(top)) {
    PlanFacts facts(found, cluster, flops);
    os << llvm::formatv("{0}. {1:f3} s a step, {2:f0} tokens/s, mfu {3:f1} %, {4} per rank\n", ++number,
                        found.seconds, facts.tokensPerSecond, 100 * facts.mfu,
                        formatBytes(found.size.getPeak()));
    os << "   " << facts.flags << "\n  ";
    TimeTerms::visit(
        [&](const char *name, double seconds) {
          if (seconds >= 0.0005 * found.seconds)
            os << llvm::formatv(" {0} {1:f1} %", name, 100 * seconds / found.seconds);
        },
        found.terms);
    os << "\n";
    if (number > 1)
      printGap(findGap(result.plans.front(), found), os);
  }
  if (top > 1)
    printCertainty(result, cluster, os);
  for (const MemoryLever &lever : result.levers)
    os << llvm::formatv(
        "memory binds: without {0} the first would take {1:f1} % less, but stage {2} is {3} short\n",
        lever.flags, 100 * lever.share, lever.stage, formatBytes(static_cast<int64_t>(lever.shortBytes)));
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

json::Array par::describeStrategies(llvm::ArrayRef<StrategyRow> rows, const Cluster &cluster, double flops) {
  json::Array list;
  for (const StrategyRow &row : rows) {
    json::Object object = row.plan ? describePlan(*row.plan, cluster, flops) : json::Object();
    object["strategy"] = row.name;
    if (row.leastBytes)
      object["needs_bytes"] = static_cast<int64_t>(*row.leastBytes);
    list.push_back(std::move(object));
  }
  return list;
}

void par::printStrategies(llvm::ArrayRef<StrategyRow> rows, llvm::raw_ostream &os) {
  for (const StrategyRow &row : rows) {
    os << llvm::formatv("{0}: ", row.name);
    if (row.plan)
      os << llvm::formatv("{0:f3} s a step, {1} per rank\n   {2}\n", row.plan->seconds,
                          formatBytes(row.plan->size.getPeak()), printDifference(Plan(), row.plan->plan));
    else if (row.leastBytes)
      os << llvm::formatv("does not fit: {0} per rank at least\n",
                          formatBytes(static_cast<int64_t>(*row.leastBytes)));
    else
      os << "no such plan of these ranks: sizes of the model or the batch do not divide so\n";
  }
}
