//===- Summary.h - what par-compile prints of a plan ------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_SUMMARY_H
#define PAR_LIB_COMPILE_SUMMARY_H

#include "par/Cost/PredictStep.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::par {

/// Ranks, memory and traffic of a manifest; with `explain` a table of what is sent by cause, and a
/// line per kernel of a device.
void printSummary(const llvm::json::Object &manifest, bool explain, llvm::raw_ostream &os);
/// How long a step will take, and with several stages a line for each, in which time goes to the right.
void printStep(const PredictedStep &step, llvm::raw_ostream &os);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_SUMMARY_H
