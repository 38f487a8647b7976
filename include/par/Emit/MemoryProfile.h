//===- MemoryProfile.h - what lies in a rank's arena during a step ----------------------------*- C++ -*-===//
#ifndef PAR_EMIT_MEMORYPROFILE_H
#define PAR_EMIT_MEMORYPROFILE_H

#include "par/Dialect/Rank/Analysis/Liveness.h"
#include <string>
#include <vector>

namespace mlir::par {

/// A buffer from the first to the last point at which it is live, both included.
struct LiveBuffer {
  std::string name; ///< "parameter @wte", "gemm of layer"
  std::string slot; ///< of a saved value: which of those that are named alike, "residual 0.3"
  std::string type; ///< of the local tensor, empty if it has none
  rank::Category category;
  int64_t bytes = 0, offset = 0;
  int64_t begin = 0, end = 0;
};

/// A planned step, replayed: points are the kernels, library calls, collectives and copies in the order in
/// which a rank executes them.
struct MemoryProfile {
  static constexpr unsigned kCategories = rank::kCategories;

  std::vector<std::string> points;     ///< "forward, micro-batch 1, layer: gemm"
  std::vector<rank::Lifetime> entries; ///< points of every entry of the schedule; empty where it has none
  std::vector<LiveBuffer> buffers;
  std::vector<rank::CategoryBytes> live; ///< by point
  int64_t peakBytes = 0;                 ///< highest end of any buffer
  int64_t mostLive = 0;                  ///< most bytes live at one point: no packing needs less
  int64_t fullest = 0;                   ///< that point

  /// Those live at the fullest point, largest first.
  std::vector<const LiveBuffer *> getLiveAtPeak() const;
};

/// Of the training step of each stage of a module after rank-plan-memory.
std::vector<MemoryProfile> profileStages(ModuleOp module);

} // namespace mlir::par

#endif // PAR_EMIT_MEMORYPROFILE_H
