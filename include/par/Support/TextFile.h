//===- TextFile.h - files of text that a user names -------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_TEXTFILE_H
#define PAR_SUPPORT_TEXTFILE_H

#include "par/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::par {

/// The content of a file, or of a pipe to which somebody writes; `-` is standard input. The error is the
/// reason alone.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readTextFile(llvm::StringRef path,
                                                                 size_t mostBytes = ::par::limits::textBytes);

} // namespace mlir::par

#endif // PAR_SUPPORT_TEXTFILE_H
