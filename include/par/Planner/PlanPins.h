//===- PlanPins.h - what a search may not change ----------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANPINS_H
#define PAR_PLANNER_PLANPINS_H

#include "par/Planner/PlanSpace.h"
#include "par/Support/Flags.h"

namespace mlir::par {

/// The flags of par-compile that decide a plan, bound to the request's: what is given is pinned.
void describePlanFlags(Flags &flags, PlanRequest &request);

/// Takes what was given by flags and by `--pin key=value`: an axis of the mesh, or a flag's name without its
/// dashes. Errors: text that is no key=value, an unknown key, one pinned twice, a value that its flag does
/// not take, axes that do not divide the ranks, and whatever par-compile refuses of a plan (CheckPins.h).
llvm::Error takePins(PlanRequest &request, const std::set<std::string> &given,
                     llvm::ArrayRef<std::string> pins);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANPINS_H
