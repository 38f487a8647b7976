//===- TextTable.h - columns of text ----------------------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_TEXTTABLE_H
#define PAR_SUPPORT_TEXTTABLE_H

#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace mlir::par {

/// Rows of ASCII text in columns that are as wide as their widest text, two blanks apart: the first from the
/// left, the others from the right.
class TextTable {
public:
  std::vector<std::string> &addRow() { return rows.emplace_back(); }
  std::vector<std::string> &last() { return rows.back(); }
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace mlir::par

#endif // PAR_SUPPORT_TEXTTABLE_H
