//===- Diagonal.h - attention whose positions are row numbers ---------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_DIAGONAL_H
#define PAR_DIALECT_PAR_IR_DIAGONAL_H

#include "mlir/IR/Operation.h"

namespace mlir::par {

/// A unit attribute of par.attention and par.attention_backward: position i of q and of k is p + i, so row i
/// sees row j when (not `causal` or j <= i) and (`window` = 0 or i - j < window). It says what the mask comes
/// to, whatever computes it. Verified by the ops (attention_c4); an interpreter also looks at the positions.
inline constexpr llvm::StringLiteral kDiagonalAttr = "diagonal";

inline bool isDiagonal(Operation *attention) { return attention->hasAttrOfType<UnitAttr>(kDiagonalAttr); }
inline void setDiagonal(Operation *attention) {
  attention->setAttr(kDiagonalAttr, UnitAttr::get(attention->getContext()));
}

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_DIAGONAL_H
