//===- AttentionTables.h - positions and documents of an attention's rows -----------------------===//
#ifndef PAR_TEST_UNIT_TARGET_ATTENTIONTABLES_H
#define PAR_TEST_UNIT_TARGET_ATTENTIONTABLES_H

#include "AttentionText.h"
#include <functional>

namespace mlir::par {

/// A number for each entry of the batch and row; null: drawn.
using RowNumbers = std::function<int64_t(int64_t entry, int64_t row)>;

struct AttentionTables {
  RowNumbers qPositions, kPositions, qDocuments = nullptr, kDocuments = nullptr;
};

/// Sets the inputs that are no random numbers.
inline void setInputs(KernelCase &kernel, const AttentionText &text, const AttentionTables &tables) {
  kernel.slack = text.getSlack();
  if (text.drops())
    kernel.ins.back().values = {1, 2, 3, 4, 5}; // offsets
  size_t table = text.getTables();
  for (const RowNumbers &numbers :
       {tables.qPositions, tables.kPositions, tables.qDocuments, tables.kDocuments}) {
    Tensor *tensor = numbers ? &kernel.ins[table] : nullptr;
    ++table;
    if (!tensor)
      continue;
    int64_t rows = tensor->type.getShape().back();
    for (auto [number, value] : llvm::enumerate(tensor->values))
      value = static_cast<double>(
          numbers(static_cast<int64_t>(number) / rows, static_cast<int64_t>(number) % rows));
  }
}

/// Rows of documents of so many rows each: their documents, and positions that begin at 0 in each.
inline AttentionTables packDocuments(int64_t rows) {
  auto position = [rows](int64_t, int64_t row) { return row % rows; };
  auto document = [rows](int64_t, int64_t row) { return row / rows; };
  return {position, position, document, document};
}

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_ATTENTIONTABLES_H
