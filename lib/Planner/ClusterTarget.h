//===- ClusterTarget.h - plans are for the devices of the cluster -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_PLANNER_CLUSTERTARGET_H
#define PAR_LIB_PLANNER_CLUSTERTARGET_H

#include "par/Cost/Cluster.h"
#include "llvm/Support/Error.h"
#include <set>

namespace mlir::par {

/// Target and chip of `plan` as the cluster has them, where `given` flags do not say a chip. A GPU also runs
/// what is for older ones. Errors: another target than the cluster's, a chip that its devices do not run, a
/// cluster of GPUs that no chip is for.
llvm::Error takeClusterTarget(Plan &plan, const std::set<std::string> &given, const Cluster &cluster);

} // namespace mlir::par

#endif // PAR_LIB_PLANNER_CLUSTERTARGET_H
