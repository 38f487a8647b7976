//===- ErrorLine.h - how a tool says what is wrong --------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_ERRORLINE_H
#define PAR_SUPPORT_ERRORLINE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Writes `error: ` and the text as one line to stderr, and which flags that it names are from a run file.
void printError(const llvm::Twine &text);
inline void printError(llvm::Error error) { printError(llvm::toString(std::move(error))); }
/// The same of what is worth knowing.
void printNote(const llvm::Twine &text);
/// Writes what `print` says, line by line, so that a terminal only shows it: names in it are of files.
void printVisible(llvm::raw_ostream &to, llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace mlir::par

#endif // PAR_SUPPORT_ERRORLINE_H
