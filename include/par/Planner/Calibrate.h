//===- Calibrate.h - this machine as a cluster ------------------------------------------------*- C++ -*-===//
// par-measure (runtime/measure) says how long pieces of work take here; a cluster is made of that
// (docs/Clusters.md, "A machine of your own").

#ifndef PAR_PLANNER_CALIBRATE_H
#define PAR_PLANNER_CALIBRATE_H

#include "par/Cost/Cluster.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace mlir::par {

/// A cluster of one host whose cores all ranks share. Errors: figures that par-measure does not write, or of
/// which no valid cluster can be made.
llvm::Expected<Cluster> makeCluster(const llvm::json::Object &figures);

struct MeasuredMachine {
  Cluster cluster;
  std::string whyBusy; ///< why the figures are not those of an idle machine; empty: they are
};

/// The quickest of one or two rounds. A second one that is missing, or differs by more than an idle machine's
/// would, is why the machine is called busy, also in the cluster's name.
MeasuredMachine judgeRounds(std::vector<Cluster> rounds);

/// Measures this machine twice, for some seconds, at most a minute.
llvm::Expected<MeasuredMachine> measureThisMachine();

/// This machine as it was measured before: from the user's cache folder ($XDG_CACHE_HOME or ~/.cache) under
/// the processor's name. Where nothing valid is there it is measured now, with notes on stderr, and kept
/// there if it was idle.
llvm::Expected<Cluster> getThisMachine();

} // namespace mlir::par

#endif // PAR_PLANNER_CALIBRATE_H
