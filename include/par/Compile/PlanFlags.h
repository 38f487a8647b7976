//===- PlanFlags.h - plans as flags -----------------------------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_PLANFLAGS_H
#define PAR_COMPILE_PLANFLAGS_H

#include "par/Cost/Headroom.h"
#include "par/Plan/Plan.h"
#include "par/Support/Flags.h"

namespace mlir::par {

/// The flags of sizes, types, optimizer and mesh, which all tools that take a model share; bound to `plan`.
void describeModelFlags(Flags &flags, Plan &plan);
/// Those that say which parameters decay and which are not trained.
void describeTrainingFlags(Flags &flags, Plan &plan);
/// Those of ZeRO and sequence parallelism.
void describeShardingFlags(Flags &flags, Plan &plan);
/// Those of parameters that are split without names of their dimensions.
void describeSearchFlags(Flags &flags, Plan &plan);
/// Those that only a compiled program has: overlap, recomputing, offloading, schedule, target.
void describeProgramFlags(Flags &flags, Plan &plan);
/// The flag `--headroom` says what a search leaves free of a device; its help speaks of `plans`.
void describeHeadroomFlag(Flags &flags, std::optional<Headroom> &headroom, const char *plans);

/// What code is for is said once: `--cpu` counts as `--chip`. Error if both are given.
llvm::Error takeChip(std::set<std::string> &given);
/// Code is for the target's usual chip if none is given.
void completeChip(Plan &plan, const std::set<std::string> &given);

/// "dp=2,tp=4".
std::string printMesh(const NamedAxes &axes);

/// The flag of a field with its value as one writes it: "--zero 3", "--sequence-parallel"; empty where none
/// says so (`--sequence-parallel` that is off, a limit that is not there).
std::string printFlag(const Plan &plan, llvm::StringRef field);

/// The flags that make `to` of `from`, in the order of fields; empty where they are equal.
std::string printDifference(const Plan &from, const Plan &to);

} // namespace mlir::par

#endif // PAR_COMPILE_PLANFLAGS_H
