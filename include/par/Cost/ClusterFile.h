//===- ClusterFile.h - clusters as JSON files -------------------------------------------------*- C++ -*-===//
#ifndef PAR_COST_CLUSTERFILE_H
#define PAR_COST_CLUSTERFILE_H

#include "par/Cost/Cluster.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// A cluster whose numbers are checked, each by itself and against each other; docs/Clusters.md says what
/// they mean. Errors, each with the file and the place in it: text that is no JSON object, another version, a
/// value that is missing, unknown, of another type or out of bounds, and what `findClusterProblem` finds.
/// `path` may also name a cluster that par knows (KnownClusters.h), where there is no such file.
llvm::Expected<Cluster> readCluster(llvm::StringRef path);
llvm::Expected<Cluster> parseCluster(llvm::StringRef name, llvm::StringRef text);

/// What `parseCluster` reads; numbers with 15 digits.
llvm::json::Object toJson(const Cluster &cluster);

/// Writes it to `path`, whole or not at all.
llvm::Error writeCluster(const Cluster &cluster, llvm::StringRef path);

/// The first number that contradicts another, as "place: what is wrong; what to do"; empty: there is none.
std::string findClusterProblem(const Cluster &cluster);

/// Refuses more ranks than there are devices.
llvm::Error checkDevices(const Cluster &cluster, llvm::StringRef path, int64_t ranks);

/// Where numbers stand in the file: `device.memory_bytes`, `links[0].all_reduce[1].bus_gbps`.
std::vector<std::string> listNumbers(const Cluster &cluster);
/// Those that no source covers.
std::vector<std::string> listUnsourced(const Cluster &cluster);

} // namespace mlir::par

#endif // PAR_COST_CLUSTERFILE_H
