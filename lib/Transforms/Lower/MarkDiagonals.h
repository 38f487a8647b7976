//===- MarkDiagonals.h - positions of a library's op that are one sequence --------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_MARKDIAGONALS_H
#define PAR_LIB_TRANSFORMS_LOWER_MARKDIAGONALS_H

#include "ConstantValues.h"

namespace mlir::par {

/// Tells ops of libraries which operands are one sequence p, p + 1, ... in every call: attention whose
/// positions of q and of k are so says it (`diagonal`), and a library then masks by row numbers. Before
/// positions become arguments that are written at run time.
void markDiagonals(const Callers &callers, const ConstantValues &constants);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_MARKDIAGONALS_H
