//===- FilePlaces.h - where variables lie in files, as the runtime has it ---------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_FILEPLACES_H
#define PAR_DIALECT_PAR_IR_FILEPLACES_H

#include "par/Dialect/Par/IR/Par.h"
#include "par/io/FilePlace.h"

namespace mlir::par {

/// Whether a variable, which has `file`, is a whole tensor of the model's files, in any order: what most are.
bool isWholeFileTensor(VariableOp variable);
/// Dimensions of the file's tensor, less those of which the variable takes one element.
size_t getFileRank(VariableOp variable);
/// The place in files of a variable that has `file`, with the defaults of all keys that are left out.
::par::io::FilePlace getFilePlace(VariableOp variable);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_FILEPLACES_H
