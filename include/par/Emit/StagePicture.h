//===- StagePicture.h - what stages do and hold over time -------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_STAGEPICTURE_H
#define PAR_EMIT_STAGEPICTURE_H

#include "par/Cost/PredictStep.h"
#include "par/Emit/MemoryProfile.h"

namespace mlir::par {

/// A part of an HTML page: for each stage a row with its actions, time to the right, and below it the bytes
/// that are live. `memory` has a profile of each; `limit` (bytes) is drawn if it is not 0
/// nor far above what any stage holds.
std::string drawStages(const PredictedStep &step, llvm::ArrayRef<MemoryProfile> memory, int64_t limit);

} // namespace mlir::par

#endif // PAR_EMIT_STAGEPICTURE_H
