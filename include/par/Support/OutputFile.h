//===- OutputFile.h - files that appear whole or not at all -----------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_OUTPUTFILE_H
#define PAR_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Writes `text` to `path`, `-` being standard output. A regular file is written under a temporary name
/// beside `path` and renamed, so a failure leaves neither a part nor a trace.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef text);

/// Ends the output of a tool that prints to llvm::outs() and would exit with `status`: the exit status, 1
/// with an `error:` line if standard output could not take it all (a stream with an error would abort at
/// exit).
int finishOutput(int status);

} // namespace mlir::par

#endif // PAR_SUPPORT_OUTPUTFILE_H
