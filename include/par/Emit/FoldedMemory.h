//===- FoldedMemory.h - what is live at the peak, equal buffers as one ------------------------*- C++ -*-===//
#ifndef PAR_EMIT_FOLDEDMEMORY_H
#define PAR_EMIT_FOLDEDMEMORY_H

#include "par/Emit/MemoryProfile.h"

namespace mlir::par {

/// Buffers of one category, content, type and size, whatever layer or slot they are for.
struct BufferRow {
  rank::Category category;
  std::string name;  ///< with "*" for the number of a layer, where there are several
  std::string type;  ///< of the local tensor, empty if it has none
  int64_t bytes = 0; ///< of all
  int64_t buffers = 0;
  int64_t layers = 0; ///< 0: of no layer, or of one whose number the name has

  /// "32 layers", "64 buffers of 32 layers", "3 buffers", or nothing for a single one.
  std::string count() const;
};

/// Those live at the fullest point, most bytes first.
std::vector<BufferRow> foldLiveAtPeak(const MemoryProfile &profile);

} // namespace mlir::par

#endif // PAR_EMIT_FOLDEDMEMORY_H
