//===- StackMemory.h - what a training software holds in memory -------------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_STACKMEMORY_H
#define PAR_BENCHMARKS_PLANNER_STACKMEMORY_H

#include "Rows.h"
#include "Stack.h"

namespace mlir::par {

double countLayerParameters(const RowModel &model);

/// Whether it is known what layers save as the row runs them again.
bool saysMemory(const Row &row, const SavedModel &saved);

/// Bytes of the stage that needs most, or whose figure is printed: state of its parameters, and what its
/// layers save for each micro-batch in flight (Korthikanti et al., 2205.05198, section 4), and the loss.
/// `layersOf`: by chunk; `live`: by stage, micro-batches at once, as of `Timeline::peakLive`.
double getStackBytes(const Row &row, const SavedModel &saved, llvm::ArrayRef<int64_t> layersOf,
                     llvm::ArrayRef<double> live);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_STACKMEMORY_H
