//===- Topology.cpp - ranks, coordinates and groups of a mesh -------------------------------------------===//
#include "par/Interpreter/Topology.h"

using namespace mlir;
using namespace mlir::par;

int64_t par::getCoordinate(MeshAttr mesh, int64_t rank, StringRef axis) {
  int64_t position = mesh.getPosition(axis);
  if (position < 0)
    return 0;
  for (int64_t size : mesh.getSizes().drop_front(position + 1))
    rank /= size;
  return rank % mesh.getSizes()[position];
}

int64_t par::getMemberNumber(MeshAttr mesh, int64_t rank, ArrayRef<StringRef> axes) {
  int64_t number = 0;
  for (StringRef axis : axes)
    number = number * mesh.getSize(axis) + getCoordinate(mesh, rank, axis);
  return number;
}

SmallVector<SmallVector<int64_t>> par::getGroups(MeshAttr mesh, ArrayRef<StringRef> axes) {
  SmallVector<StringRef> others;
  for (StringAttr name : mesh.getNames())
    if (!llvm::is_contained(axes, name.getValue()))
      others.push_back(name.getValue());
  int64_t numRanks = mesh.getNumRanks();
  int64_t numGroups = 1;
  for (StringRef axis : others)
    numGroups *= mesh.getSize(axis);
  SmallVector<SmallVector<int64_t>> groups(numGroups, SmallVector<int64_t>(numRanks / numGroups));
  for (int64_t rank = 0; rank < numRanks; ++rank)
    groups[getMemberNumber(mesh, rank, others)][getMemberNumber(mesh, rank, axes)] = rank;
  return groups;
}
