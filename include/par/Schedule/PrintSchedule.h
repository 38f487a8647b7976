//===- PrintSchedule.h - schedules to look at -------------------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_PRINTSCHEDULE_H
#define PAR_SCHEDULE_PRINTSCHEDULE_H

#include "par/Schedule/Timeline.h"
#include "llvm/Support/JSON.h"

#include <limits>

namespace mlir::par {

/// The bubble in the three ways of the literature: idle time of a stage over the time of the step (Narayanan
/// et al., 2104.04473, call idle over work the bubble), over its work, and over the longest stage's own time
/// from first to last action (Qi et al., 2401.10241, section 4).
double getIdleOfTotal(const Timeline &timeline);
double getIdleOfIdeal(const Timeline &timeline);
double getIdleOfLongest(const Timeline &timeline);

/// A line per stage: what it computes, one after the other.
void printOrder(const PipelineSchedule &schedule, llvm::raw_ostream &os);
/// A line per stage, time to the right: the shortest action is as wide as the longest name. Where that takes
/// more than `columns`, all are narrower, and letters stand for the names that have no place.
void printGantt(const PipelineSchedule &schedule, const Timeline &timeline, llvm::raw_ostream &os,
                size_t columns = std::numeric_limits<size_t>::max());
/// Time, bubble, and micro-batches held per stage.
void printSummary(const PipelineSchedule &schedule, const Timeline &timeline, llvm::raw_ostream &os);
/// The step of complete lists in the form that Chrome and Perfetto show, a process per stage; a unit of the
/// timeline is so many microseconds. An event is known by its stage and the number of its entry there: the
/// trace of a run has the same ones.
void printTrace(const PipelineSchedule &schedule, const Timeline &timeline, double microseconds,
                llvm::raw_ostream &os);
llvm::json::Object toJson(const PipelineSchedule &schedule, const Timeline &timeline);

} // namespace mlir::par

#endif // PAR_SCHEDULE_PRINTSCHEDULE_H
