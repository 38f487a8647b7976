//===- Page.h - pages of HTML that need no other file -----------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_PAGE_H
#define PAR_EMIT_PAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::par {

/// The head of a page with the style of all, light and dark.
void beginPage(llvm::raw_ostream &page, llvm::StringRef title);
void endPage(llvm::raw_ostream &page);

/// A colour of the pictures, and what it stands for.
struct LegendEntry {
  llvm::StringRef style; ///< class of the shapes
  llvm::StringRef meaning;
};

void writeLegend(llvm::ArrayRef<LegendEntry> entries, llvm::raw_ostream &page);

/// With a comma before each three digits: "16,384".
std::string groupDigits(int64_t number);

/// As text of a page.
std::string escapeHtml(llvm::StringRef text);

} // namespace mlir::par

#endif // PAR_EMIT_PAGE_H
