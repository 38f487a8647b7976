//===- PlanFit.cpp - what would make a plan fit ---------------------------------------------------------===//
#include "par/Compile/PlanFit.h"

using namespace mlir::par;

static Plan applyAll(Plan plan, llvm::ArrayRef<PlanChange> changes) {
  for (const PlanChange &change : changes)
    change(plan);
  return plan;
}

std::optional<int64_t> PlanFit::getPeak(const Plan &other) const {
  std::optional<PlanSize> size = measure(other);
  return size ? std::optional(size->getPeak()) : std::nullopt;
}

std::vector<PlanChange> PlanFit::tighten(const PlanLever &lever, const Plan &from) const {
  return isFixed(lever.name) ? std::vector<PlanChange>() : lever.tighten(from);
}

/// The first step that fits, where the last one with which there is a plan does. Each needs less than the one
/// before.
std::optional<MeasuredPlan> PlanFit::findMildest(llvm::ArrayRef<PlanChange> changes) const {
  std::optional<int64_t> peak;
  size_t enough = changes.size();
  while (enough > 0 && !peak)
    peak = getPeak(applyAll(plan, changes[--enough]));
  if (!peak || *peak > limit)
    return std::nullopt;
  for (size_t tooMild = 0; tooMild < enough;) { // steps
    size_t middle = tooMild + (enough - tooMild) / 2;
    std::optional<int64_t> here = getPeak(applyAll(plan, changes[middle]));
    if (here && *here <= limit)
      enough = middle, peak = here;
    else
      tooMild = middle + 1;
  }
  return MeasuredPlan{applyAll(plan, changes[enough]), *peak};
}

std::vector<MeasuredPlan> PlanFit::findSingle() const {
  std::vector<MeasuredPlan> found;
  for (const PlanLever &lever : getPlanLevers())
    if (std::optional<MeasuredPlan> mildest = findMildest(tighten(lever, plan)))
      found.push_back(std::move(*mildest));
  return found;
}

/// Leaves out what is not needed any more since stronger levers came to it, the dearest first.
void PlanFit::leaveOut(std::vector<PlanChange> &changes, int64_t &peak) const {
  for (size_t number = changes.size(); number-- > 0;) {
    std::vector<PlanChange> others = changes;
    others.erase(others.begin() + static_cast<int64_t>(number));
    std::optional<int64_t> without = getPeak(applyAll(plan, others));
    if (!without || *without > limit)
      continue;
    peak = *without;
    changes = std::move(others);
  }
}

/// The first step that fits, or the one that needs least; none where no step needs less than `peak`, which
/// becomes what it needs. Together with others a stronger step may need more.
std::optional<PlanChange> PlanFit::findStrongest(const PlanLever &lever, const Plan &from,
                                                 int64_t &peak) const {
  std::optional<PlanChange> chosen;
  for (const PlanChange &change : tighten(lever, from)) {
    std::optional<int64_t> here = getPeak(applyAll(from, change));
    if (!here || *here >= peak)
      continue;
    peak = *here;
    chosen = change;
    if (peak <= limit)
      break;
  }
  return chosen;
}

MeasuredPlan PlanFit::findCombined(int64_t needed) const {
  std::vector<PlanChange> changes;
  int64_t peak = needed;
  for (const PlanLever &lever : getPlanLevers()) {
    if (!lever.keepsTraining)
      continue;
    std::optional<PlanChange> chosen = findStrongest(lever, applyAll(plan, changes), peak);
    if (!chosen)
      continue;
    changes.push_back(std::move(*chosen));
    if (peak > limit)
      continue;
    leaveOut(changes, peak);
    break;
  }
  return {applyAll(plan, changes), peak};
}
