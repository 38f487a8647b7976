//===- StackMemory.h - what a training software holds in memory -------------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_STACKMEMORY_H
#define PAR_BENCHMARKS_PLANNER_STACKMEMORY_H

#include "Rows.h"
#include "Stack.h"

namespace mlir::par {

/// Bytes of the stage that needs most: state of its parameters, and what its layers save for each micro-batch
/// in flight (Korthikanti et al., 2205.05198, section 4). `layersOf`: by chunk; `live`: by stage,
/// micro-batches at once, as of `Timeline::peakLive`.
double getStackBytes(const Row &row, const SavedModel &saved, llvm::ArrayRef<int64_t> layersOf,
                     llvm::ArrayRef<double> live);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_STACKMEMORY_H
