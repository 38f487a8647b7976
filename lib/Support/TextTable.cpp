//===- TextTable.cpp - columns of text ------------------------------------------------------------------===//
#include "par/Support/TextTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;

void mlir::par::TextTable::print(raw_ostream &os) const {
  std::vector<unsigned> widths;
  for (const std::vector<std::string> &row : rows)
    for (auto [column, text] : enumerate(row)) {
      widths.resize(std::max(widths.size(), column + 1));
      widths[column] = std::max(widths[column], unsigned(text.size()));
    }
  for (const std::vector<std::string> &row : rows) {
    for (auto [column, text] : enumerate(row))
      if (column == 0)
        os << left_justify(text, row.size() > 1 ? widths[column] : 0);
      else
        os << "  " << right_justify(text, widths[column]);
    os << "\n";
  }
}
