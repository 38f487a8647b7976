//===- VerifyPlaces.h - constraints of places -------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_DIALECT_PAR_IR_VERIFYPLACES_H
#define PAR_LIB_DIALECT_PAR_IR_VERIFYPLACES_H

#include "par/Dialect/Par/IR/Places.h"

namespace mlir::par {

/// place_c2 to place_c6 and phase_c1 for all arguments and results of a function.
LogicalResult verifyPlaces(func::FuncOp function);

} // namespace mlir::par

#endif // PAR_LIB_DIALECT_PAR_IR_VERIFYPLACES_H
