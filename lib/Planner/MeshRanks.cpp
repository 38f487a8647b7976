//===- MeshRanks.cpp - the ranks of a mesh by what they divide ------------------------------------------===//
#include "par/Planner/MeshRanks.h"

using namespace mlir::par;

DataAxes mlir::par::getDataAxes(llvm::StringRef axis) {
  if (hasRole(axis, AxisRole::State))
    return DataAxes::Parts;
  return hasRole(axis, AxisRole::Batch) ? DataAxes::Replicas : DataAxes::None;
}

MeshRanks::MeshRanks(NamedAxes mesh) : axes(std::move(mesh)) {
  for (auto &[name, size] : axes) {
    if (size == 1) // a search asks for many meshes
      continue;
    all *= size;
    for (auto [role, ranks] : {std::pair(AxisRole::Pipeline, &stages), std::pair(AxisRole::Batch, &data),
                               std::pair(AxisRole::State, &parts), std::pair(AxisRole::Tensor, &tensor)})
      *ranks *= hasRole(name, role) ? size : 1;
  }
}
