//===- Topology.h - ranks, coordinates and groups of a mesh -----------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_TOPOLOGY_H
#define PAR_INTERPRETER_TOPOLOGY_H

#include "par/Dialect/Par/IR/ParAttributes.h"

namespace mlir::par {

/// Coordinate of `rank` on a mesh axis (rank = row-major position); 0 for an axis that the mesh has not.
int64_t getCoordinate(MeshAttr mesh, int64_t rank, StringRef axis);

/// Row-major position of `rank` over `axes` as listed: its number in its group.
int64_t getMemberNumber(MeshAttr mesh, int64_t rank, ArrayRef<StringRef> axes);

/// The ranks in groups that differ only on `axes`, every group in the order of its members' numbers.
SmallVector<SmallVector<int64_t>> getGroups(MeshAttr mesh, ArrayRef<StringRef> axes);

} // namespace mlir::par

#endif // PAR_INTERPRETER_TOPOLOGY_H
