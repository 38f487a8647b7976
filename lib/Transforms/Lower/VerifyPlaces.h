//===- VerifyPlaces.h - the places of buffers in rank-verify-program -------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_VERIFYPLACES_H
#define PAR_LIB_TRANSFORMS_LOWER_VERIFYPLACES_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// Buffers have places within their memory, and those that live at once have no byte in common.
LogicalResult verifyPlaces(ModuleOp module, const SymbolTable &symbols);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_VERIFYPLACES_H
