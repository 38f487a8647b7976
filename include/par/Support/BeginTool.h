//===- BeginTool.h - what every tool does first -----------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_BEGINTOOL_H
#define PAR_SUPPORT_BEGINTOOL_H

namespace mlir::par {

/// From here on a process that is ended leaves no temporary file: by a signal, or by an allocation that
/// fails. That is exit code 1, after the line "error: out of memory; " and `remedy`, a text that stays.
void beginTool(const char *remedy);

} // namespace mlir::par

#endif // PAR_SUPPORT_BEGINTOOL_H
