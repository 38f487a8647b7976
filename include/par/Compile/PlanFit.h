//===- PlanFit.h - what would make a plan fit -------------------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_PLANFIT_H
#define PAR_COMPILE_PLANFIT_H

#include "par/Compile/PlanLevers.h"
#include "par/Compile/PlanTrials.h"

namespace mlir::par {

/// A plan that was measured.
struct MeasuredPlan {
  Plan plan;
  int64_t peak = 0; ///< bytes of the rank that needs most
};

/// Seeks what makes a plan's ranks need no more than `limit` bytes.
class PlanFit {
public:
  using Measure = std::function<std::optional<PlanSize>(const Plan &)>;

  /// `measure` gives what ranks need under a plan, or nothing where there is no such plan; `isFixed` tells of
  /// a lever's name whether it stays as it is.
  PlanFit(const Plan &plan, int64_t limit, Measure measure, std::function<bool(llvm::StringRef)> isFixed)
      : plan(plan), limit(limit), measure(std::move(measure)), isFixed(std::move(isFixed)) {}

  /// The mildest step of every lever that does it alone.
  std::vector<MeasuredPlan> findSingle() const;
  /// Levers one after the other, each as strong as it helps, until it fits, without those that are needless
  /// then; else the least there is. `needed`: bytes of the plan itself, which it is where nothing helps.
  MeasuredPlan findCombined(int64_t needed) const;

  /// The most bytes that each stage may save, where it is not decided yet (`--recompute auto`), by bisection;
  /// where no plan fits, those of the lowest peak that was seen.
  StageNumbers findRecomputeLimit() const;

private:
  std::optional<int64_t> getPeak(const Plan &other) const;
  std::vector<PlanChange> tighten(const PlanLever &lever, const Plan &from) const;
  std::optional<MeasuredPlan> findMildest(llvm::ArrayRef<PlanChange> changes) const;
  std::optional<PlanChange> findStrongest(const PlanLever &lever, const Plan &from, int64_t &peak) const;
  void leaveOut(std::vector<PlanChange> &changes, int64_t &peak) const;

  const Plan &plan;
  int64_t limit;
  Measure measure;
  std::function<bool(llvm::StringRef)> isFixed;
};

} // namespace mlir::par

#endif // PAR_COMPILE_PLANFIT_H
