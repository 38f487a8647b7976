//===- MeshRanks.h - the ranks of a mesh by what they divide ----------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MESHRANKS_H
#define PAR_PLANNER_MESHRANKS_H

#include "par/Plan/Axes.h"

namespace mlir::par {

/// Ranks of data parallelism, as a set: those that ZeRO divides state over, and groups of these that have
/// the same parts.
enum class DataAxes : uint8_t { None = 0, Parts = 1, Replicas = 2, All = 3 };

inline DataAxes operator|(DataAxes left, DataAxes right) {
  return static_cast<DataAxes>(static_cast<uint8_t>(left) | static_cast<uint8_t>(right));
}
inline bool contains(DataAxes all, DataAxes part) { return (all | part) == all; }
/// The set that an axis of a mesh is; none for axes of other roles.
DataAxes getDataAxes(llvm::StringRef axis);

struct MeshRanks {
  explicit MeshRanks(NamedAxes mesh);

  int64_t count(DataAxes over) const {
    return (contains(over, DataAxes::Parts) ? parts : 1) *
           (contains(over, DataAxes::Replicas) ? data / parts : 1);
  }

  NamedAxes axes;
  int64_t all = 1, stages = 1, data = 1, parts = 1, tensor = 1;
};

} // namespace mlir::par

#endif // PAR_PLANNER_MESHRANKS_H
