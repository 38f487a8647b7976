//===- CompileTool.h - par-compile as a function ----------------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_COMPILETOOL_H
#define PAR_COMPILE_COMPILETOOL_H

#include "par/Cost/Cluster.h"
#include "par/Cost/Headroom.h"
#include "par/Plan/Plan.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <optional>
#include <set>

namespace mlir::par {

/// What `--ranks` asks for: the best plan of a model for a cluster.
struct PlanQuery {
  std::string model;                  ///< as ImportOptions
  std::vector<std::string> overrides; ///< as ImportOptions
  int64_t ranks = 1;
  std::optional<Cluster> cluster;   ///< none: this machine, as it is measured
  std::string clusterFile;          ///< that it was read from
  Plan plan;                        ///< sizes, types, and the values of what is given
  std::set<std::string> given;      ///< names of flags: what they decide is not searched
  int64_t memoryLimit = 0;          ///< bytes of a rank; 0: what the cluster's devices have
  std::optional<Headroom> headroom; ///< none: what is usual
};

/// The plan and what it was found for.
struct PlanReply {
  Plan plan;
  Cluster cluster;
};

/// Nothing after one error line on stderr. (The planner calls the compiler, so it is handed in.)
using FindPlan = std::function<std::optional<PlanReply>(const PlanQuery &)>;

/// What `par-compile` does with its command line; its exit status. `launcher` is the executable that becomes
/// the package's `rank`.
int runCompileTool(int argc, char **argv, llvm::StringRef launcher, const FindPlan &findPlan);

} // namespace mlir::par

#endif // PAR_COMPILE_COMPILETOOL_H
