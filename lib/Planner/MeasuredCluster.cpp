//===- MeasuredCluster.cpp - a cluster of what par-measure has found ------------------------------------===//
#include "par/Cost/ClusterFile.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Cost/DeviceTimes.h"
#include "par/Planner/Calibrate.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace mlir::par;
using llvm::Error;
using llvm::StringRef;
namespace json = llvm::json;

namespace {
/// An object of the figures. What is not there is remembered as the first problem, and read as 1.
class Figures {
public:
  Figures(const json::Object &object, std::string &problem) : object(object), problem(problem) {}

  double number(StringRef key) const {
    std::optional<double> value = object.getNumber(key);
    if (value && std::isfinite(*value) && *value > 0)
      return *value;
    if (problem.empty())
      problem = ("\"" + key + "\" must be a number above 0").str();
    return 1;
  }
  int64_t integer(StringRef key) const { return static_cast<int64_t>(number(key)); }
  StringRef text(StringRef key) const { return object.getString(key).value_or(""); }
  bool flag(StringRef key) const { return object.getBoolean(key).value_or(false); }

  std::vector<Figures> list(StringRef key) const {
    std::vector<Figures> items;
    if (const json::Array *array = object.getArray(key))
      for (const json::Value &value : *array)
        if (const json::Object *item = value.getAsObject())
          items.push_back(Figures(*item, problem));
    if (items.empty() && problem.empty())
      problem = ("\"" + key + "\" must be a list of measurements").str();
    return items;
  }

private:
  const json::Object &object;
  std::string &problem;
};

/// Operations and seconds of a product.
struct MeasuredProduct {
  explicit MeasuredProduct(const Figures &of)
      : isBF16(of.text("type") == "bf16"), m(of.integer("m")), n(of.integer("n")), k(of.integer("k")),
        seconds(of.number("seconds")) {}
  bool isBF16;
  int64_t m, n, k;
  double seconds;
  double getRate() const { return 2 * double(m) * double(n) * double(k) / seconds; }
};
} // namespace

/// Of what par-measure writes (runtime/measure/Figures.cpp).
static constexpr int64_t kFiguresVersion = 1;

/// Panels of the runtime's products (runtime/cpu/PackedBlocks.h): a few rows by a few vectors.
static constexpr int64_t kTileRows = 16, kTileColumns = 32, kAlignment = 16;

/// The summed terms behind which a tile has half of its rate: a product of k terms takes (k + depth) as long
/// as one term, so two products of one m and n say what it is.
static int64_t findDepth(const MeasuredProduct &large, llvm::ArrayRef<MeasuredProduct> products) {
  double most = 1;
  for (const MeasuredProduct &product : products) {
    bool isShallow = !product.isBF16 && product.m == large.m && product.n == large.n && product.k < large.k;
    if (!isShallow || product.seconds >= large.seconds)
      continue;
    double depth = (double(large.k) * product.seconds - double(product.k) * large.seconds) /
                   (large.seconds - product.seconds);
    most = std::max(most, std::min(depth, double(large.k)));
  }
  return static_cast<int64_t>(std::lround(most));
}

static ProductRates makeProducts(const Figures &figures) {
  std::vector<MeasuredProduct> products;
  for (const Figures &item : figures.list("products"))
    products.emplace_back(item);
  const MeasuredProduct *large = nullptr, *bf16 = nullptr, *odd = nullptr;
  for (const MeasuredProduct &product : products) {
    const MeasuredProduct *&slot = product.isBF16 ? bf16 : product.k % kAlignment ? odd : large;
    if (!slot || product.getRate() * double(product.k) > slot->getRate() * double(slot->k))
      slot = &product;
  }
  ProductRates rates;
  if (!large)
    return rates;
  rates.units = figures.integer("cores");
  rates.tileRows = kTileRows;
  rates.tileColumns = kTileColumns;
  rates.alignment = rates.fullAlignment = kAlignment;
  rates.depth = findDepth(*large, products);
  double full = double(large->k + rates.depth) / double(large->k);
  rates.share = 1;
  rates.peakF32 = large->getRate() * full;
  rates.peakBF16 = (bf16 ? bf16->getRate() : large->getRate()) * full;
  rates.unalignedShare = odd ? std::min(1.0, odd->getRate() / large->getRate()) : 1;
  return rates;
}

static std::vector<AttentionRates> makeAttention(const Figures &figures, double peak) {
  std::map<int64_t, AttentionRates> byHead;
  for (const Figures &item : figures.list("attention")) {
    AttentionRates &rates = byHead[item.integer("head_dim")];
    rates.headDim = item.integer("head_dim");
    AttentionShape shape;
    shape.heads = item.integer("heads");
    shape.queryRows = shape.keyRows = item.integer("rows");
    shape.headDim = rates.headDim;
    shape.backward = item.flag("backward");
    RateCurve &curve = shape.backward ? rates.backward : rates.forward;
    curve.points.emplace_back(shape.keyRows,
                              std::min(1.0, countFlops(shape) / item.number("seconds") / peak));
  }
  std::vector<AttentionRates> list;
  for (auto &[head, rates] : byHead)
    list.push_back(std::move(rates));
  return list;
}

/// As par-measure calls them.
static llvm::StringRef getName(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return "all_reduce";
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::AllToAll:
    return "all_to_all";
  }
  return "";
}

/// Of measurements of one kind: what the shortest ones take without bytes, and the rates of the others.
static std::vector<CollectiveRates> makeCollectives(const std::vector<Figures> &figures, CollectiveKind kind,
                                                    double memory) {
  std::map<int64_t, std::map<double, double>> seconds; // by ranks and bytes
  for (const Figures &item : figures)
    if (item.text("kind") == getName(kind))
      seconds[item.integer("ranks")][item.number("bytes")] = item.number("seconds");
  if (seconds.empty())
    return {};
  // A ring of n ranks has n - 1 steps: two numbers of ranks say what a step takes.
  auto first = seconds.begin(), last = std::prev(seconds.end());
  double step = 0, shortest = first->second.begin()->second;
  if (first != last)
    step = std::max(0.0, (last->second.begin()->second - shortest) / double(last->first - first->first));
  double latency = std::max(0.1 * shortest, shortest - step * double(first->first - 1));
  std::vector<CollectiveRates> list;
  for (auto &[ranks, points] : seconds) {
    CollectiveRates rates;
    rates.algorithm = "ring";
    rates.ranks = ranks;
    rates.latency = latency;
    rates.stepLatency = step;
    for (auto &[bytes, total] : llvm::drop_begin(points)) {
      double bus = getBusFactor(kind, double(ranks)) * bytes;
      double moving = std::max(total - latency - step * double(ranks - 1), 0.05 * total);
      rates.rate.points.emplace_back(bytes, std::min(bus / moving, memory));
    }
    list.push_back(std::move(rates));
  }
  return list;
}

static LinkLevel makeLink(const Figures &figures, double memory) {
  LinkLevel level;
  level.name = "memory of the host";
  std::vector<Figures> messages = figures.list("messages");
  for (const Figures &item : messages) {
    double seconds = item.number("seconds");
    if (level.latency == 0)
      level.latency = seconds;
    else
      level.message.points.emplace_back(
          item.number("bytes"),
          std::min(memory, item.number("bytes") / std::max(seconds - level.latency, 0.05 * seconds)));
  }
  std::vector<Figures> collectives = figures.list("collectives");
  level.allReduce = makeCollectives(collectives, CollectiveKind::AllReduce, memory);
  level.allGather = makeCollectives(collectives, CollectiveKind::AllGather, memory);
  level.reduceScatter = makeCollectives(collectives, CollectiveKind::ReduceScatter, memory);
  level.allToAll = makeCollectives(collectives, CollectiveKind::AllToAll, memory);
  return level;
}

static DeviceModel makeDevice(const Figures &figures) {
  DeviceModel device;
  device.name = llvm::formatv("{0} cores of {1}", figures.integer("cores"), figures.text("processor"));
  device.isShared = true;
  device.memoryBytes = figures.number("memory_bytes");
  device.contextBytes = 64 << 20;
  device.communicatorBytes = 4096;
  for (const Figures &item : figures.list("kernels"))
    device.memory.points.emplace_back(item.number("bytes"), item.number("bytes") / item.number("seconds"));
  device.kernelFlops = figures.number("kernel_flops");
  device.products = makeProducts(figures);
  device.attention = makeAttention(figures, std::max(1.0, device.products.peakF32));
  device.launchGap = device.hostTime = figures.number("start_seconds");
  return device;
}

llvm::Expected<Cluster> mlir::par::makeCluster(const json::Object &object) {
  std::string problem;
  Figures figures(object, problem);
  if (object.getInteger("version") != kFiguresVersion)
    return makeError("par-measure wrote figures of another version than " + llvm::Twine(kFiguresVersion) +
                     "; install it and par-plan together");
  Cluster cluster;
  cluster.name = figures.text("processor").str();
  cluster.nodes = 1;
  cluster.device = makeDevice(figures);
  double most = 0, least = 0;
  for (auto &[bytes, rate] : cluster.device.memory.points)
    most = std::max(most, rate), least = rate;
  cluster.links.push_back(makeLink(figures, most));
  cluster.concurrency = {std::min(1.0, figures.number("compute_share")),
                         std::min(1.0, figures.number("communicate_share"))};
  // A copy reads and writes.
  cluster.host = {cluster.device.memoryBytes, least / 2, figures.number("start_seconds"),
                  cluster.device.kernelFlops, least};
  for (const char *place : {"device", "links", "concurrency", "host"})
    cluster.sources[place] = "measured on this machine by par-measure";
  cluster.sources["device.memory_bytes"] = cluster.sources["host.memory_bytes"] = "what the system states";
  cluster.sources["device.context_bytes"] = cluster.sources["device.communicator_bytes"] =
      "estimate: code, stacks and packed factors of a rank";
  for (const char *place : {"node_ranks", "nodes"})
    cluster.sources[place] = "one host, whose cores ranks share";
  if (problem.empty())
    problem = findClusterProblem(cluster);
  if (!problem.empty())
    return makeError("what par-measure found on this machine is no cluster: " + problem);
  return cluster;
}
