//===- FoldedTraffic.h - what ranks send in a step, layers that say the same as one -----------*- C++ -*-===//
#ifndef PAR_EMIT_FOLDEDTRAFFIC_H
#define PAR_EMIT_FOLDEDTRAFFIC_H

#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace mlir::par {

/// Collectives or messages of one kind, axes and cause; those of layers that send the same are one row.
struct TrafficRow {
  int64_t stage = 0;
  std::string kind, axes; ///< "all_reduce", "dp tp"
  std::string cause;      ///< with "*" for the number of a layer, where there are several
  int64_t layers = 0;     ///< how many; 0: of no layer, or of one whose number the cause has
  int64_t bytes = 0;      ///< that a rank of the stage sends in a step, of all the layers
  int64_t calls = 0;

  std::string describe() const { return kind + " over " + axes; }
};

/// Of the array `collectives` of a manifest, most bytes first; without `causes` a row per kind and axes.
std::vector<TrafficRow> foldTraffic(const llvm::json::Array &collectives, bool causes);

/// Of rows of one kind, axes and cause, whatever the number of its layer, those of the stage that sends most.
std::vector<TrafficRow> takeLargestStages(std::vector<TrafficRow> rows);

} // namespace mlir::par

#endif // PAR_EMIT_FOLDEDTRAFFIC_H
