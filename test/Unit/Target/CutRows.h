//===- CutRows.h - a kernel of a large model with few rows of the same length ---------------------------===//
#ifndef PAR_TEST_UNIT_TARGET_CUTROWS_H
#define PAR_TEST_UNIT_TARGET_CUTROWS_H

#include "mlir/IR/Block.h"

namespace mlir::par {

/// Gives the tensors of a kernel's region at most `rows` rows, and leaves how long a row is: no dimension
/// that is the last one of an argument or a result changes. A table of [128256, 4096] becomes one of
/// [rows, 4096], a block of rows that is taken of it the same share of those.
void cutRows(Block &block, int64_t rows);

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_CUTROWS_H
