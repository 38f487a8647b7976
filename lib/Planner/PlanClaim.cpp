//===- PlanClaim.cpp - how far predictions of steps are off, and what says so ---------------------------===//
#include "par/Planner/PlanClaim.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir::par;
namespace json = llvm::json;

/// Plans whose comparison is in doubt are at most so many times as slow as each other.
static constexpr double kClose = 1.1;

// `planner-benchmark --recorded` computes them, and fails where it finds others.
static constexpr PublishedErrors kPublished = {{0.086, 281}, {0.262, 281}, {0.03, 715}};

const PublishedErrors &mlir::par::getPublishedErrors() { return kPublished; }

//===----------------------------------------------------------------------===//
// Steps of par's own packages
//===----------------------------------------------------------------------===//

static MeasuredError judgeHostSteps() {
  double sum = 0;
  llvm::ArrayRef<OwnHostStep> steps = getOwnHostSteps();
  for (const OwnHostStep &step : steps)
    sum += std::abs(step.predicted / step.measured - 1);
  return {sum / static_cast<double>(steps.size()), static_cast<int64_t>(steps.size())};
}

/// The median error of comparing plans of one model that are predicted to be close.
static double compareHostSteps() {
  std::vector<double> errors;
  llvm::ArrayRef<OwnHostStep> steps = getOwnHostSteps();
  for (size_t left = 0; left < steps.size(); ++left)
    for (size_t right = left + 1; right < steps.size(); ++right) {
      const OwnHostStep &one = steps[left], &other = steps[right];
      double predicted = one.predicted / other.predicted;
      if (llvm::StringRef(one.model) == other.model && std::max(predicted, 1 / predicted) <= kClose)
        errors.push_back(std::abs(predicted * other.measured / one.measured - 1));
    }
  llvm::sort(errors);
  return errors[errors.size() / 2];
}

static int64_t getMostHostRanks() {
  int64_t most = 0;
  for (const OwnHostStep &step : getOwnHostSteps())
    most = std::max(most, step.ranks);
  return most;
}

//===----------------------------------------------------------------------===//
// The claim
//===----------------------------------------------------------------------===//

PlanClaim::PlanClaim(const Cluster &cluster, FloatKind type, int64_t ranks)
    : cluster(cluster.name), ranks(ranks), factor(findOwnFactor(cluster, type)) {
  if (factor) {
    own = {factor->error, factor->judged};
    return;
  }
  own = judgeHostSteps();
  ownRanks = cluster.device.isShared ? getMostHostRanks() : 0;
}

bool PlanClaim::isMeasured() const { return ranks <= ownRanks && !(factor && factor->isNearest); }

double PlanClaim::getStepError() const {
  return isMeasured() ? own.error : std::max(own.error, kPublished.described.error);
}

double PlanClaim::getComparisonError() const {
  return factor ? kPublished.comparison.error : compareHostSteps();
}

static json::Object describe(const MeasuredError &measured) {
  return json::Object{{"error", measured.error}, {"count", measured.count}};
}

json::Object mlir::par::describeClaim(const PlanClaim &claim) {
  json::Object own = describe(claim.own);
  own["ranks"] = claim.ownRanks;
  own["measured"] = claim.isMeasured();
  if (claim.factor) {
    own["device"] = claim.factor->device;
    own["factor"] = claim.factor->factor;
  }
  json::Object object{{"step", claim.getStepError()},
                      {"comparison", claim.getComparisonError()},
                      {"own_packages", std::move(own)}};
  if (claim.factor) {
    object["with_stack_file"] = describe(kPublished.described);
    object["without_stack_file"] = describe(kPublished.undescribed);
  }
  return object;
}

static std::string printShare(double share) { return llvm::formatv("{0:f1} %", 100 * share); }

static void printOwn(const PlanClaim &claim, llvm::raw_ostream &os) {
  os << "   par's own steps, ";
  if (claim.factor)
    os << "on one " << claim.factor->device;
  else
    os << "on two cores, up to " << getMostHostRanks() << " ranks";
  os << ": " << printShare(claim.own.error) << " (" << claim.own.count << " measured)";
  if (claim.factor)
    os << llvm::formatv("; times are {0:f2} times the model's, as there", claim.factor->factor);
  if (claim.factor && claim.factor->isNearest)
    os << "; " << claim.cluster << " is not measured yet, and this the nearest";
  else if (!claim.isMeasured())
    os << "; " << claim.ranks << (claim.ranks == 1 ? " rank is" : " ranks are") << " not measured yet";
  os << "\n";
}

void mlir::par::printClaim(const PlanClaim &claim, llvm::raw_ostream &os) {
  os << "predictions of steps are " << printShare(claim.getStepError())
     << " off on average, comparisons of close plans " << printShare(claim.getComparisonError())
     << " (the median)\n";
  printOwn(claim, os);
  if (claim.factor)
    os << "   published steps of other software: " << printShare(kPublished.described.error)
       << " where a file says what it does otherwise, " << printShare(kPublished.undescribed.error)
       << " without\n";
}
