//===- PlanClaim.h - how far predictions of steps are off, and what says so -------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANCLAIM_H
#define PAR_PLANNER_PLANCLAIM_H

#include "par/Cost/OwnSteps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::par {

/// |predicted / measured - 1| on average, of so many steps or pairs of steps.
struct MeasuredError {
  double error = 0;
  int64_t count = 0;
};

/// Published steps of other software on GPUs, as they were predicted before anything was changed on their
/// account (docs/Performance.md, "Rows that nothing was fitted to").
struct PublishedErrors {
  MeasuredError described;   ///< with a file that says what the software does otherwise
  MeasuredError undescribed; ///< by par's own ways
  /// A comparison is the ratio of two plans of one model on one cluster, predicted to be at most 10 % apart.
  /// Half of the pairs have less than this error. Two such plans are off alike, so that it is less than the
  /// error of a step.
  MeasuredError comparison;
};
const PublishedErrors &getPublishedErrors();

/// A claim says what is known of the errors of a plan's prediction.
struct PlanClaim {
  PlanClaim(const Cluster &cluster, FloatKind type, int64_t ranks);

  std::string cluster;
  int64_t ranks;
  /// The error of par's own packages: on processors of steps on this kind of machine with up to `ownRanks`
  /// ranks, on GPUs of steps on one of them.
  MeasuredError own;
  int64_t ownRanks = 1;
  std::optional<OwnFactor> factor; ///< of GPUs

  /// Says whether steps were measured on such a device with as many ranks.
  bool isMeasured() const;
  /// The error of a step, a share: of par's own packages where they were measured, else no less than that of
  /// published steps.
  double getStepError() const;
  /// The error that half of the comparisons of two close plans stay below, a share.
  double getComparisonError() const;
};

/// docs/Planner.md, "How far predictions are off".
llvm::json::Object describeClaim(const PlanClaim &claim);
void printClaim(const PlanClaim &claim, llvm::raw_ostream &os);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANCLAIM_H
