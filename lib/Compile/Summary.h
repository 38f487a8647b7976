//===- Summary.h - what par-compile prints of a plan ------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_SUMMARY_H
#define PAR_LIB_COMPILE_SUMMARY_H

#include "par/Cost/PredictStep.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::par {

/// Ranks, memory and traffic of a manifest in less than 80 columns, after `forecast` (below, or empty). With
/// `explain` sizes are exact, and more follows: what is sent by cause, and the launches and kernels of a
/// device.
void printSummary(const llvm::json::Object &manifest, llvm::StringRef forecast, bool explain,
                  llvm::raw_ostream &os);
/// Says how quick a step of a plan will be on a cluster, as its ranks see it, and how much of their memory
/// the fullest rank takes.
std::string describeForecast(const llvm::json::Object &manifest, const PredictedStep &step, const Plan &plan,
                             const Cluster &cluster);
/// How long a step will take, and with several stages a line for each, in which time goes to the right.
void printStep(const PredictedStep &step, llvm::raw_ostream &os);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_SUMMARY_H
