//===- CheckCluster.cpp - numbers of a cluster against each other ---------------------------------------===//
#include "par/Cost/ClusterFile.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::par;
using llvm::formatv;

/// The chip is the value of a flag, so it is checked here and not where it is used.
static std::string findTargetProblem(const Cluster &cluster) {
  if (cluster.target != TargetKind::Cuda)
    return cluster.chip.empty() ? ""
                                : formatv("chip: \"{0}\" is of GPUs, the target is {1}; leave it out",
                                          cluster.chip, getName(cluster.target))
                                      .str();
  llvm::StringRef number = cluster.chip;
  bool isKnown = number.consume_front("sm_") && !number.rtrim("af").empty() &&
                 llvm::all_of(number.rtrim("af"), llvm::isDigit);
  return isKnown ? "" : formatv("chip: \"{0}\" must be an architecture such as sm_90", cluster.chip).str();
}

static std::string findDeviceProblem(const DeviceModel &device, double usable) {
  if (usable <= 0)
    return formatv("device.context_bytes: {0:f0} and communicator_bytes {1:f0} leave nothing of memory_bytes "
                   "{2:f0}; state them in bytes",
                   device.contextBytes, device.communicatorBytes, device.memoryBytes);
  for (size_t i = 1; i < device.attention.size(); ++i)
    if (device.attention[i].headDim <= device.attention[i - 1].headDim)
      return formatv(
          "device.attention[{0}].head_dim: {1} must be above {2} of the entry before it: sort them", i,
          device.attention[i].headDim, device.attention[i - 1].headDim);
  return "";
}

/// A level connects whole groups of the one below it, the first the ranks of a node, the last all.
static std::string findSizeProblem(const Cluster &cluster) {
  llvm::ArrayRef<LinkLevel> links = cluster.links;
  if (links.back().ranks != 0)
    return formatv("links[{0}].ranks: {1} must be 0: the last level connects all ranks", links.size() - 1,
                   links.back().ranks);
  if (links.size() == 1 && cluster.nodes != 1 && cluster.nodeRanks > 1)
    return formatv("links: the one level connects the {0} ranks of a node; add a level for the network "
                   "between nodes, or state \"nodes\": 1",
                   cluster.nodeRanks);
  for (size_t i = 0; i + 1 < links.size(); ++i) {
    if (i == 0 && links[i].ranks != cluster.nodeRanks)
      return formatv(
          "links[0].ranks: {0} must be node_ranks {1}: the first level connects the ranks of a node",
          links[i].ranks, cluster.nodeRanks);
    if (i > 0 && (links[i].ranks <= links[i - 1].ranks || links[i].ranks % links[i - 1].ranks))
      return formatv("links[{0}].ranks: {1} must be a multiple of {2} of the level below it", i,
                     links[i].ranks, links[i - 1].ranks);
  }
  return "";
}

static double getPeak(const RateCurve &curve) {
  double peak = 0;
  for (double rate : llvm::make_second_range(curve.points))
    peak = std::max(peak, rate);
  return peak;
}

/// What is sent is read from memory and what is received is written there.
static std::string checkRate(const llvm::Twine &place, double rate, double most, llvm::StringRef what) {
  if (rate <= most)
    return "";
  return formatv("{0}: {1:f3} GB/s are faster than {2}, {3:f3} GB/s; state them in 10^9 bytes per second",
                 place.str(), rate / 1e9, what, most / 1e9);
}

static std::string checkCollectives(const llvm::Twine &place, llvm::ArrayRef<CollectiveRates> list,
                                    const LinkLevel &level, double memory) {
  constexpr llvm::StringLiteral algorithms[] = {"ring", "tree", "nvls"};
  for (auto [number, rates] : llvm::enumerate(list)) {
    std::string entry = (place + "[" + llvm::Twine(number) + "]").str();
    if (!llvm::is_contained(algorithms, rates.algorithm))
      return formatv("{0}.algorithm: \"{1}\" must be one of {2}", entry, rates.algorithm,
                     llvm::join(llvm::ArrayRef(algorithms), ", "));
    if (rates.ranks < 2)
      return formatv("{0}.ranks: {1} must be at least 2: one rank sends nothing", entry, rates.ranks);
    double peak = getPeak(rates.rate);
    std::string problem = checkRate(entry + ".bus_gbps", peak, memory, "the device's memory_gbps");
    // The bytes of a ring leave each of its nodes once; trees and switches that add send fewer.
    if (problem.empty() && level.perNode && rates.algorithm == "ring")
      problem = checkRate(entry + ".bus_gbps", peak, level.perNode, "the level's node_gbps");
    if (!problem.empty())
      return problem;
  }
  return "";
}

static std::string findRateProblem(const LinkLevel &level, const std::string &place, double memory) {
  double message = getPeak(level.message);
  std::string problem = checkRate(place + ".message_gbps", message, memory, "the device's memory_gbps");
  if (problem.empty() && level.perNode)
    problem = checkRate(place + ".message_gbps", message, level.perNode, "the level's node_gbps");
  if (problem.empty())
    problem = checkCollectives(place + ".all_reduce", level.allReduce, level, memory);
  if (problem.empty())
    problem = checkCollectives(place + ".all_gather", level.allGather, level, memory);
  if (problem.empty())
    problem = checkCollectives(place + ".reduce_scatter", level.reduceScatter, level, memory);
  if (problem.empty())
    problem = checkCollectives(place + ".all_to_all", level.allToAll, level, memory);
  return problem;
}

llvm::Error mlir::par::checkDevices(const Cluster &cluster, llvm::StringRef path, int64_t ranks) {
  std::optional<int64_t> most = cluster.getMostRanks();
  if (!most || ranks <= *most)
    return llvm::Error::success();
  return makeError(path + ": nodes: " + llvm::Twine(cluster.nodes) + " of node_ranks " +
                   llvm::Twine(cluster.nodeRanks) + " are " + llvm::Twine(*most) +
                   " devices, but a plan of " + llvm::Twine(ranks) + " ranks is asked for; take " +
                   llvm::Twine(*most) +
                   " or fewer, or state the nodes that there are (0: as many as one asks for)");
}

std::string mlir::par::findClusterProblem(const Cluster &cluster) {
  std::string problem = findTargetProblem(cluster);
  if (problem.empty())
    problem = findDeviceProblem(cluster.device, cluster.getUsableBytes(1));
  if (problem.empty())
    problem = findSizeProblem(cluster);
  double memory = getPeak(cluster.device.memory);
  for (auto [number, level] : llvm::enumerate(cluster.links))
    if (problem.empty())
      problem = findRateProblem(level, formatv("links[{0}]", number), memory);
  if (problem.empty())
    problem = checkRate("host.copy_gbps", cluster.host.copy, memory, "the device's memory_gbps");
  if (problem.empty())
    problem = checkRate("host.copy_gbps", cluster.host.copy, cluster.host.memory, "the host's memory_gbps");
  return problem;
}
