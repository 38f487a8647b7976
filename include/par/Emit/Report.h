//===- Report.h - a page about a compiled step ------------------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_REPORT_H
#define PAR_EMIT_REPORT_H

#include "par/Cost/PredictStep.h"
#include "par/Cost/StepSpeed.h"
#include "par/Emit/MemoryProfile.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

struct ReportFacts {
  llvm::ArrayRef<MemoryProfile> stages;
  const llvm::json::Object &manifest;
  const Plan &plan;
  std::string flags; ///< of par-compile, that make the plan
  const PredictedStep &step;
  const Cluster *cluster; ///< that the step is predicted for, as ranks see it; null: none is known
  int64_t limit;          ///< bytes that a rank may take; 0: none is given
};

/// A page of HTML that needs no other file: time, speed and the fullest rank; what stages do over time
/// (StagePicture.h); of every kind of stage memory over the step by category and by buffer, and what is live
/// at the peak; kernels and collectives with their causes; the plan.
std::string writeReport(const ReportFacts &facts);

} // namespace mlir::par

#endif // PAR_EMIT_REPORT_H
