//===- OutOfMemory.h - memory that is not there -----------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_OUTOFMEMORY_H
#define PAR_SUPPORT_OUTOFMEMORY_H

namespace mlir::par {

/// From here on an allocation that fails ends the process with exit code 1, after the line "error: out of
/// memory; " and `remedy`, a text that stays. What an interrupted process would not leave is removed.
void endWithoutMemory(const char *remedy);

} // namespace mlir::par

#endif // PAR_SUPPORT_OUTOFMEMORY_H
