//===- StorageReshards.h - between how variables lie and how functions see them ---------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_STORAGERESHARDS_H
#define PAR_LIB_TRANSFORMS_PARTITION_STORAGERESHARDS_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Arguments and results bound to variables get the variables' storage shardings: a reshard before an
/// argument's first use makes what the function computes with, one before the return what is stored.
/// Dimension shardings must be settled.
void addStorageReshards(func::FuncOp function, const SymbolTable &symbols);

/// A reshard of a reshard goes straight to its target, where nothing else uses what lies between or a
/// variable is read without traffic then. Before partial sums are derived.
void composeReshards(func::FuncOp function, MeshAttr mesh);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_STORAGERESHARDS_H
