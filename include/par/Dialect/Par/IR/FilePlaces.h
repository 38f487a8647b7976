//===- FilePlaces.h - where variables lie in files, as the runtime has it ---------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_FILEPLACES_H
#define PAR_DIALECT_PAR_IR_FILEPLACES_H

#include "par/Dialect/Par/IR/Par.h"
#include "par/io/FilePlace.h"

namespace mlir::par {

/// What a variable's `file` says, which it has, with all that is left out there.
::par::io::FilePlace getFilePlace(VariableOp variable);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_FILEPLACES_H
