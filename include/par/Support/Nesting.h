//===- Nesting.h - a bound for parsers that recurse -------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_NESTING_H
#define PAR_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::par {

/// Line and column, from 1.
struct TextPlace {
  unsigned line, column;
};

/// Where a text in MLIR's syntax (or JSON) first asks more than `limit` levels of recursion of its parser. A
/// level is a bracket that is open outside of strings and comments, an operator of an affine expression, or
/// one that an alias stands for: `!b = tuple<!a>` is one deeper than `!a`.
std::optional<TextPlace> findDeepNesting(llvm::StringRef text, unsigned limit);

} // namespace mlir::par

#endif // PAR_SUPPORT_NESTING_H
