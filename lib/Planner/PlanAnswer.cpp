//===- PlanAnswer.cpp - what a search says --------------------------------------------------------------===//
#include "par/Planner/PlanAnswer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Compile/PlanFlags.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Planner/PlainPlan.h"
#include "par/Planner/PlanGap.h"
#include "par/Support/Bytes.h"
#include "par/Support/Seconds.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// One plan
//===----------------------------------------------------------------------===//

PlanFacts::PlanFacts(const FoundPlan &found, const AnswerFacts &facts) {
  StepSpeed speed = getSpeed(found.plan, found.seconds, facts.flops, facts.cluster);
  unit = getUnit(found.plan);
  unitsPerSecond = speed.unitsPerSecond;
  mfu = speed.mfu;
  exposed = found.terms.tensor + found.terms.data + found.terms.transfers;
  flags = printDifference(Plan(), found.plan);
}

static json::Object describePlan(const FoundPlan &found, const AnswerFacts &answer) {
  PlanFacts facts(found, answer);
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
                      {"device_seconds", getObjective(found, Objective::Cost)},
                      {std::string(facts.unit) + "_per_second", facts.unitsPerSecond},
                      {"mfu", facts.mfu},
                      {"memory", std::move(memory)},
                      {"bubble", found.bubble},
                      {"exposed", facts.exposed},
                      {"terms", std::move(terms)}};
}

/// By how much a plan is behind the best, of what the objective is.
static double getShareBehind(const FoundPlan &best, const FoundPlan &found, Objective objective) {
  return getObjective(found, objective) / getObjective(best, objective) - 1;
}

static json::Object describeGap(const FoundPlan &best, const FoundPlan &found, Objective objective) {
  if (objective != Objective::Time)
    return json::Object{{"share", getShareBehind(best, found, objective)}};
  PlanGap gap = findGap(best, found);
  json::Object terms;
  for (auto &[name, seconds] : gap.terms)
    terms[name] = seconds;
  return json::Object{{"seconds", gap.seconds}, {"share", gap.share}, {"terms", std::move(terms)}};
}

static json::Array describeLevers(llvm::ArrayRef<MemoryLever> levers) {
  json::Array list;
  for (const MemoryLever &lever : levers)
    list.push_back(json::Object{{"flags", lever.flags},
                                {"stage", lever.stage},
                                {"short_bytes", static_cast<int64_t>(lever.shortBytes)},
                                {"share", lever.share}});
  return list;
}

static json::Array describeBatches(llvm::ArrayRef<BatchAdvice> batches) {
  json::Array list;
  for (const BatchAdvice &advice : batches)
    list.push_back(json::Object{{"batch", advice.plan.plan.batch},
                                {"step_seconds", advice.plan.seconds},
                                {"share", advice.saved},
                                {"flags", printDifference(Plan(), advice.plan.plan)}});
  return list;
}

static std::string getUnitName(Objective objective) {
  return objective == Objective::Time     ? "seconds"
         : objective == Objective::Memory ? "bytes"
                                          : "device_seconds";
}

static json::Object describePlanOf(const SearchResult &result, size_t number, const AnswerFacts &facts) {
  const FoundPlan &found = result.plans[number];
  json::Object object = describePlan(found, facts);
  object["plainest"] = number == result.plainest;
  if (number > 0)
    object["behind"] = describeGap(result.plans.front(), found, facts.objective);
  json::Array mechanisms;
  for (StringRef name : listMechanisms(found.plan))
    mechanisms.push_back(name);
  object["mechanisms"] = std::move(mechanisms);
  return object;
}

static const char *getEndName(SearchEnd end) {
  return end == SearchEnd::Time ? "seconds" : end == SearchEnd::Cap ? "compiled" : "complete";
}

json::Object par::describeAnswer(const SearchResult &result, const AnswerFacts &facts, size_t top) {
  json::Array plans;
  for (size_t number = 0; number < std::min(top, result.plans.size()); ++number)
    plans.push_back(describePlanOf(result, number, facts));
  json::Object answer{{"cluster", facts.cluster.name},
                      {"weighed", result.weighed},
                      {"estimated", result.estimated},
                      {"compiled", result.compiled},
                      {"ended_by", getEndName(result.end)},
                      {"claimed_error", facts.claim.getStepError()},
                      {"claims", describeClaim(facts.claim)},
                      {"plans", std::move(plans)},
                      {"plainest", describePlanOf(result, result.plainest, facts)},
                      {"batches", describeBatches(facts.batches)},
                      {"levers", describeLevers(result.levers)}};
  if (result.bound)
    answer["bound_" + getUnitName(facts.objective)] = *result.bound;
  return answer;
}

static void printGap(const FoundPlan &best, const FoundPlan &found, Objective objective,
                     llvm::raw_ostream &os) {
  if (objective != Objective::Time) {
    os << llvm::formatv("   {0:f1} % more {1} than the first\n", 100 * getShareBehind(best, found, objective),
                        objective == Objective::Memory ? "memory" : "device seconds");
    return;
  }
  PlanGap gap = findGap(best, found);
  if (gap.terms.empty()) {
    os << "   as quick as the first\n";
    return;
  }
  os << llvm::formatv("   {0:f1} % behind the first:", 100 * gap.share);
  for (auto &[name, seconds] : gap.terms)
    os << llvm::formatv(" {0} {1}{2}", name, seconds < 0 ? "" : "+", formatSeconds(seconds));
  os << "\n";
}

static std::string printObjective(double value, Objective objective) {
  switch (objective) {
  case Objective::Time:
    return formatSeconds(value) + " a step";
  case Objective::Memory:
    return formatBytes(static_cast<int64_t>(value)) + " per rank";
  case Objective::Cost:
    return formatSeconds(value) + " of a device a step";
  }
  llvm_unreachable("an objective");
}

/// Whether the first plan is the best one for sure, as far as predictions go.
static void printCertainty(const SearchResult &result, const PlanClaim &claim, llvm::raw_ostream &os) {
  if (result.plans.size() < 2)
    return;
  double share = findGap(result.plans[0], result.plans[1]).share, error = claim.getComparisonError();
  os << llvm::formatv("the second is {0:f1} % behind, {1} than comparisons of plans are off ({2:f1} %, the "
                      "median){3}\n",
                      100 * share, share < error ? "less" : "more", 100 * error,
                      share < error ? ": measure both" : "");
}

static void printPlan(const FoundPlan &found, const AnswerFacts &answer, llvm::raw_ostream &os) {
  PlanFacts facts(found, answer);
  os << llvm::formatv("{0} a step, {1:f0} {2}/s, mfu {3:f1} % of {4}, {5} per rank",
                      formatSeconds(found.seconds), facts.unitsPerSecond, facts.unit, 100 * facts.mfu,
                      getName(found.plan.dtype), formatBytes(found.size.getPeak()));
  if (answer.objective == Objective::Cost)
    os << llvm::formatv(", {0} ranks, {1}", found.plan.countRanks(),
                        printObjective(getObjective(found, answer.objective), answer.objective));
  os << "\n   " << facts.flags << "\n  ";
  TimeTerms::visit(
      [&](const char *name, double seconds) {
        if (seconds >= 0.0005 * found.seconds)
          os << llvm::formatv(" {0} {1:f1} %", name, 100 * seconds / found.seconds);
      },
      found.terms);
  os << "\n";
}

/// Says what the recommended plan costs, and what it does without.
static std::string describePlainest(const SearchResult &result, const AnswerFacts &facts) {
  const FoundPlan &best = result.plans.front(), &plain = result.getPlainest();
  std::vector<StringRef> without;
  for (StringRef name : listMechanisms(best.plan))
    if (!llvm::is_contained(listMechanisms(plain.plan), name))
      without.push_back(name);
  return llvm::formatv(
      "{0:f1} % behind the best, less than comparisons of plans are off ({1:f1} %, the median); it does "
      "without {2}",
      100 * getShareBehind(best, plain, facts.objective), 100 * facts.claim.getComparisonError(),
      llvm::join(without, ", "));
}

static void printPlainest(const SearchResult &result, const AnswerFacts &facts, llvm::raw_ostream &os) {
  if (result.plainest == 0)
    return;
  os << "plainest: ";
  printPlan(result.getPlainest(), facts, os);
  os << "   " << describePlainest(result, facts) << "\n";
}

static std::string describeBatch(int64_t batch, const BatchAdvice &advice) {
  return llvm::formatv("--batch {0} divides better than {1}: a sequence takes {2:f1} % less time ({3})",
                       advice.plan.plan.batch, batch, 100 * advice.saved, printMesh(advice.plan.plan.mesh));
}

std::vector<std::string> par::listNotes(const SearchResult &result, const AnswerFacts &facts) {
  std::vector<std::string> notes;
  if (result.plainest != 0)
    notes.push_back("the plainest plan is recommended: " + describePlainest(result, facts) +
                    "; the best is " + printDifference(Plan(), result.plans.front().plan));
  for (const BatchAdvice &advice : facts.batches)
    notes.push_back(describeBatch(result.plans.front().plan.batch, advice));
  return notes;
}

static void printPlans(const SearchResult &result, const AnswerFacts &facts, size_t top,
                       llvm::raw_ostream &os) {
  printPlainest(result, facts, os);
  for (size_t number = 0; number < std::min(top, result.plans.size()); ++number) {
    const FoundPlan &found = result.plans[number];
    os << number + 1 << ". ";
    printPlan(found, facts, os);
    if (number > 0)
      printGap(result.plans.front(), found, facts.objective, os);
  }
}

static void printEnd(const SearchResult &result, Objective objective, llvm::raw_ostream &os) {
  if (result.end == SearchEnd::Complete || !result.bound)
    return;
  if (result.end == SearchEnd::Time)
    os << "time ran out";
  else
    os << "the search ends with " << result.compiled << " plans compiled";
  os << ": what was not looked at to the end takes at least " << printObjective(*result.bound, objective)
     << "\n";
}

void par::printAnswer(const SearchResult &result, const AnswerFacts &facts, size_t top,
                      llvm::raw_ostream &os) {
  os << llvm::formatv("{0} plans weighed for {1}, {2} estimated, {3} compiled\n", result.weighed,
                      facts.cluster.name, result.estimated, result.compiled);
  printEnd(result, facts.objective, os);
  printPlans(result, facts, top, os);
  if (result.isCutShort && result.plans.size() < top)
    os << llvm::formatv("the search ends with {0} compiled: {1} plans of the {2} that --top asks for\n",
                        result.compiled, result.plans.size(), top);
  if (top > 1 && facts.objective == Objective::Time)
    printCertainty(result, facts.claim, os);
  for (const BatchAdvice &advice : facts.batches)
    os << describeBatch(result.plans.front().plan.batch, advice) << "\n";
  printClaim(facts.claim, os);
  for (const MemoryLever &lever : result.levers)
    os << llvm::formatv(
        "memory binds: without {0} the first would take {1:f1} % less, but stage {2} is {3} short\n",
        lever.flags, 100 * lever.share, lever.stage, formatBytes(static_cast<int64_t>(lever.shortBytes)));
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

json::Array par::describeStrategies(llvm::ArrayRef<StrategyRow> rows, const AnswerFacts &facts) {
  json::Array list;
  for (const StrategyRow &row : rows) {
    json::Object object = row.plan ? describePlan(*row.plan, facts) : json::Object();
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
      os << llvm::formatv("{0} a step, {1} per rank\n   {2}\n", formatSeconds(row.plan->seconds),
                          formatBytes(row.plan->size.getPeak()), printDifference(Plan(), row.plan->plan));
    else if (row.leastBytes)
      os << llvm::formatv("does not fit: {0} per rank at least\n",
                          formatBytes(static_cast<int64_t>(*row.leastBytes)));
    else
      os << "no such plan of these ranks: sizes of the model or the batch do not divide so\n";
  }
}
