//===- ScheduleKind.h - the schedules that have names -----------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_SCHEDULEKIND_H
#define PAR_SCHEDULE_SCHEDULEKIND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::par {

/// As a plan says it.
enum class ScheduleKind { GPipe, OneFOneB, Interleaved, ZbH1, ZbH2, ZbV, DualPipeV, LayerWise, Auto };

/// The name of `Auto`, which has lists for given times (`synthesizeSchedule`).
inline constexpr llvm::StringLiteral kAutoSchedule = "auto";

/// Whether stages compute gradients of inputs and of weights apart, so that chunks need a function for each.
bool splitsBackward(ScheduleKind kind);
/// Whether they compute both at once, for some micro-batches at least.
bool joinsBackward(ScheduleKind kind);

/// The text of every kind, by number.
llvm::ArrayRef<llvm::StringLiteral> getNames(ScheduleKind);

} // namespace mlir::par

#endif // PAR_SCHEDULE_SCHEDULEKIND_H
