//===- KnownClusters.h - clusters whose files come with par -----------------------------------*- C++ -*-===//
#ifndef PAR_COST_KNOWNCLUSTERS_H
#define PAR_COST_KNOWNCLUSTERS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlir::par {

/// Their names, sorted: `dgx-h100` and others of examples/clusters, where par is installed or built.
std::vector<std::string> listKnownClusters();

/// The file of the cluster `dgx-h100`, also by the name `dgx-h100.json`; empty where there is none.
std::string findKnownCluster(llvm::StringRef name);

} // namespace mlir::par

#endif // PAR_COST_KNOWNCLUSTERS_H
