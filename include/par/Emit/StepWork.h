//===- StepWork.h - what the kernels and library calls of a step come to ----------------------*- C++ -*-===//
#ifndef PAR_EMIT_STEPWORK_H
#define PAR_EMIT_STEPWORK_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::par {

/// Library calls, and kernels of par's own.
enum class WorkKind { Product, Attention, Kernel };

struct WorkSum {
  int64_t calls = 0, launches = 0;
  double bytes = 0; ///< of buffers, each read or written as a whole
};

/// Of a step of a rank in a stage of the pipeline, by the manifest's `step_work`.
WorkSum sumWork(const llvm::json::Object &manifest, WorkKind kind, int64_t stage = 0);

/// Launches and bytes of a step, in a line each; nothing where no device launches kernels.
void printLaunches(const llvm::json::Object &manifest, llvm::raw_ostream &os);

/// A part of a report's page.
void writeStepWork(const llvm::json::Object &manifest, llvm::raw_ostream &page);

} // namespace mlir::par

#endif // PAR_EMIT_STEPWORK_H
