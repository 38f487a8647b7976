//===- MemoryPicture.h - a rank's memory over a step, drawn -----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_EMIT_MEMORYPICTURE_H
#define PAR_LIB_EMIT_MEMORYPICTURE_H

#include "par/Emit/MemoryProfile.h"
#include "par/Schedule/Timeline.h"

namespace mlir::par {

/// The limit, or 0: beside one that is far above what is drawn, nothing of that could be seen.
inline int64_t getDrawnLimit(int64_t limit, int64_t most) { return limit > 2 * most ? 0 : limit; }

/// The name of a point or a buffer as a page has it: micro-batches are counted from 1, as schedules write
/// them
/// ("F1").
std::string countFromOne(llvm::StringRef name);

/// Two pictures of a page: live bytes by category, and every buffer at its address, both from the first
/// kernel of a rank to the last. `actions`: of its stage, an entry of the schedule each. `limit` (bytes): a
/// dashed line, if it is not 0 nor far above.
void drawMemory(const MemoryProfile &profile, llvm::ArrayRef<TimedAction> actions, int64_t limit,
                llvm::raw_ostream &page);

} // namespace mlir::par

#endif // PAR_LIB_EMIT_MEMORYPICTURE_H
