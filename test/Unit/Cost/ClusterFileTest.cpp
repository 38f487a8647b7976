//===- ClusterFileTest.cpp - clusters as JSON files -----------------------------------------------------===//
#include "par/Cost/ClusterFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace mlir::par;
namespace json = llvm::json;

namespace {

const std::string kClusters = PAR_TEST_DIR "/../examples/clusters/";
const std::vector<std::string> kNames = {"dgx-a100-40", "dgx-a100-80", "dgx-h100",
                                         "hgx-h200",    "dgx-b200",    "cpu"};

Cluster readExample(const std::string &name) {
  llvm::Expected<Cluster> cluster = readCluster(kClusters + name + ".json");
  if (!cluster) {
    ADD_FAILURE() << llvm::toString(cluster.takeError());
    return {};
  }
  return *cluster;
}

std::string toText(const Cluster &cluster) { return llvm::formatv("{0}", json::Value(toJson(cluster))); }

/// The error of a file, without its name.
std::string findError(const std::string &text) {
  llvm::Expected<Cluster> cluster = parseCluster("c.json", text);
  if (cluster)
    return "";
  std::string error = llvm::toString(cluster.takeError());
  EXPECT_TRUE(llvm::StringRef(error).starts_with("c.json:")) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  return error.substr(std::string("c.json:").size());
}

/// What a place of a file such as `links[0].ranks` names; the last part of it.
struct Place {
  json::Object *object = nullptr;
  std::string key;
};
Place find(json::Object &root, llvm::StringRef path) {
  json::Object *object = &root;
  llvm::SmallVector<llvm::StringRef> parts;
  path.split(parts, '.');
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_back()) {
    auto [key, rest] = part.split('[');
    size_t number = 0;
    object = rest.consumeInteger(10, number) ? object->getObject(key)
                                             : (*object->getArray(key))[number].getAsObject();
  }
  return {object, parts.back().str()};
}

/// What is wrong with an example of which one value is another.
std::string findErrorOf(const std::string &name, llvm::StringRef path, json::Value value) {
  json::Object root = toJson(readExample(name));
  Place place = find(root, path);
  (*place.object)[place.key] = std::move(value);
  return findError(llvm::formatv("{0}", json::Value(std::move(root))));
}

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

TEST(ClusterFile, readsWhatIsWritten) {
  for (const std::string &name : kNames) {
    Cluster cluster = readExample(name);
    llvm::Expected<Cluster> again = parseCluster(name, toText(cluster));
    ASSERT_TRUE(!!again) << llvm::toString(again.takeError());
    EXPECT_EQ(toText(*again), toText(cluster)) << name;
    EXPECT_EQ(again->device.hostTime, cluster.device.hostTime);
    EXPECT_EQ(again->links.back().allReduce[0].rate.points, cluster.links.back().allReduce[0].rate.points);
  }
}

TEST(ClusterFile, readsTheExampleOfItsPage) {
  auto page = llvm::MemoryBuffer::getFile(PAR_TEST_DIR "/../docs/Clusters.md");
  ASSERT_TRUE(!!page);
  llvm::StringRef text = (*page)->getBuffer().split("```json\n").second.split("```").first;
  llvm::Expected<Cluster> cluster = parseCluster("docs/Clusters.md", text);
  ASSERT_TRUE(!!cluster) << llvm::toString(cluster.takeError());
  EXPECT_EQ(llvm::join(listUnsourced(*cluster), " "), "node_ranks nodes");
}

TEST(ClusterFile, isInSecondsBytesAndOperations) {
  Cluster cluster = readExample("dgx-h100");
  EXPECT_EQ(cluster.target, TargetKind::Cuda);
  EXPECT_EQ(cluster.chip, "sm_90");
  EXPECT_DOUBLE_EQ(cluster.device.products.peakBF16, 989e12);
  EXPECT_DOUBLE_EQ(cluster.device.hostTime, 3e-6);
  EXPECT_DOUBLE_EQ(cluster.links[0].allReduce[0].latency, 6.6e-6);
  EXPECT_DOUBLE_EQ(cluster.links[1].perNode, 400e9);
  EXPECT_DOUBLE_EQ(cluster.host.copy, 55e9);
  EXPECT_FALSE(cluster.device.isShared);
  EXPECT_TRUE(readExample("cpu").device.isShared);
}

/// Of some ring of eight, seconds of an all-reduce as docs/Clusters.md says they are.
double getSeconds(const CollectiveRates &rates, double bytes) {
  double steps = rates.algorithm == "ring" ? 7 : 0;
  return rates.latency + steps * rates.stepLatency + 1.75 * bytes / rates.rate.at(bytes);
}

TEST(ClusterFile, repeatsWhatWasMeasured) {
  // NVIDIA/dgxc-benchmarking nccl/README.md, all_reduce_perf on a DGX H100: bytes and microseconds.
  Cluster h100 = readExample("dgx-h100");
  for (auto [bytes, microseconds] : {std::pair(1048576., 27.37),
                                     {16777216., 123.8},
                                     {268435456., 1112.5},
                                     {4294967296., 15749.},
                                     {17179869184., 62648.}}) {
    double seconds = 1;
    for (const CollectiveRates &rates : h100.links[0].allReduce)
      if (rates.ranks == 8)
        seconds = std::min(seconds, getSeconds(rates, bytes));
    EXPECT_NEAR(seconds / (microseconds * 1e-6), 1, 0.05) << bytes;
  }
  // VIA-Research/vTrain trace/a100, AR_GPU8.
  Cluster a100 = readExample("dgx-a100-80");
  const CollectiveRates &ring = a100.links[0].allReduce.back();
  ASSERT_EQ(ring.ranks, 8);
  for (auto [bytes, microseconds] : {std::pair(1048576., 92.8), {33554432., 358.1}, {1073741824., 8193.}})
    EXPECT_NEAR(getSeconds(ring, bytes) / (microseconds * 1e-6), 1, 0.05) << bytes;
}

TEST(ClusterFile, gathersSlowerThanItReducesWhereSwitchesAdd) {
  const LinkLevel node = readExample("hgx-h200").links[0];
  EXPECT_NEAR(node.allGather[0].rate.at(17179869184.), 361e9, 1e9);
  EXPECT_NEAR(node.reduceScatter[0].rate.at(17179869184.), 363e9, 1e9);
  EXPECT_NEAR(node.allReduce[1].rate.at(17179869184.), 480e9, 5e9);
}

TEST(ClusterFile, saysOfAllNumbersOfExamplesWhereTheyComeFrom) {
  for (const std::string &name : kNames) {
    Cluster cluster = readExample(name);
    EXPECT_EQ(llvm::join(listUnsourced(cluster), " "), "") << name;
    EXPECT_EQ(cluster.name, name);
  }
}

TEST(ClusterFile, listsNumbersByTheirPlaces) {
  Cluster cluster = readExample("cpu");
  std::vector<std::string> numbers = listNumbers(cluster);
  for (const char *place : {"node_ranks", "device.memory_bytes", "device.memory_gbps",
                            "device.products.depth", "links[0].all_reduce[0].bus_gbps", "host.tflops"})
    EXPECT_TRUE(llvm::is_contained(numbers, place)) << place;
  EXPECT_FALSE(llvm::is_contained(numbers, "device.name"));
  cluster.sources = {{"device.memory", "of memory_bytes and memory_gbps this says nothing"},
                     {"links[0]", "x"}};
  std::vector<std::string> unsourced = listUnsourced(cluster);
  EXPECT_TRUE(llvm::is_contained(unsourced, "device.memory_bytes"));
  EXPECT_FALSE(llvm::is_contained(unsourced, "links[0].all_reduce[0].bus_gbps"));
}

TEST(ClusterFile, mayLeaveOutWhatHasADefault) {
  json::Object root = toJson(readExample("cpu"));
  for (llvm::StringRef key : {"chip", "sources"})
    EXPECT_TRUE(root.erase(key));
  EXPECT_EQ(findError(llvm::formatv("{0}", json::Value(std::move(root)))), "");
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

/// Each value of the file taken out, of another type, and every number negative.
void refuseAllOf(json::Object &root, json::Value &value, const std::string &place) {
  auto tryValue = [&](json::Value other, const char *expected) {
    json::Value kept = std::exchange(value, std::move(other));
    std::string error = findError(llvm::formatv("{0}", json::Value(json::Object(root))));
    EXPECT_NE(error.find(place), std::string::npos) << place << ": " << error;
    EXPECT_NE(error.find(expected), std::string::npos) << place << ": " << error;
    value = std::move(kept);
  };
  bool isText = value.getAsString() || value.getAsBoolean();
  tryValue(isText ? json::Value(7) : json::Value("x"), "must be");
  tryValue(nullptr, "must be");
  if (value.getAsNumber())
    tryValue(-1, place == "version" ? "must be 1" : "must be a"); // above 0, at least 0
  if (json::Object *object = value.getAsObject())
    for (auto &[key, member] : *object)
      refuseAllOf(root, member, (place.empty() ? "" : place + ".") + key.str());
  // Of lists one entry stands for all.
  if (json::Array *array = value.getAsArray(); array && !array->empty()) {
    refuseAllOf(root, array->front(), place + "[0]");
    tryValue(json::Array(), "must be a"); // list, pair
  }
}

TEST(ClusterFile, refusesEveryValueOfAnotherTypeOrSign) {
  json::Object root = toJson(readExample("cpu"));
  root.erase("sources");
  root.erase("chip");
  for (auto &[key, value] : root)
    refuseAllOf(root, value, key.str());
}

void refuseWithoutOf(json::Object &root, json::Object &object, const std::string &place) {
  std::vector<std::string> keys;
  for (llvm::StringRef key : llvm::make_first_range(object))
    keys.push_back(key.str());
  for (const std::string &key : keys) {
    std::string path = (place.empty() ? "" : place + ".") + key;
    json::Value kept = *object.get(key);
    object.erase(key);
    if (key != "chip" && key != "sources" && key != "shared" && key != "nodes")
      EXPECT_NE(findError(llvm::formatv("{0}", json::Value(json::Object(root)))).find(path + ": is missing"),
                std::string::npos)
          << path;
    object[key] = std::move(kept);
    json::Value &value = *object.get(key);
    if (json::Object *inner = value.getAsObject(); inner && key != "sources")
      refuseWithoutOf(root, *inner, path);
    if (json::Array *array = value.getAsArray())
      if (json::Object *inner = array->front().getAsObject())
        refuseWithoutOf(root, *inner, path + "[0]");
  }
}

TEST(ClusterFile, refusesEveryValueThatIsMissing) {
  json::Object root = toJson(readExample("cpu"));
  refuseWithoutOf(root, root, "");
}

struct BadValue {
  const char *file, *path, *value;
  const char *error; ///< what it begins with, behind "c.json: "; empty: there is none
};

constexpr BadValue kBadValues[] = {
    {"cpu", "version", "2", "version: 2 must be 1"},
    {"cpu", "device.memory_bytes", "0", "device.memory_bytes: 0 must be above 0; docs/Clusters.md"},
    {"cpu", "device.memory_bytes", "-1", "device.memory_bytes: -1 must be above 0"},
    {"cpu", "device.kernel_tflops", "1e308", "device.kernel_tflops: 1e+308 must be a finite number"},
    {"cpu", "device.products.units", "2.5", "device.products.units: 2.5 must be an integer"},
    {"cpu", "device.products.units", "1099511627776", "device.products.units: 1099511627776 must be at most"},
    {"cpu", "device.products.share", "1.25", "device.products.share: 1.25 must be a share of at most 1"},
    {"cpu", "concurrency.compute_share", "84", "concurrency.compute_share: 84 must be a share"},
    {"cpu", "device.memroy_bytes", "5", "device.memroy_bytes: is unknown; there are "},
    {"cpu", "device.memory_gbps", "[[8, 1], [8, 2]]",
     "device.memory_gbps[1][0]: 8 must be above that of the point before"},
    {"cpu", "device.memory_gbps", "[[8, 1, 2]]", "device.memory_gbps[0]: [8,1,2] must be a pair"},
    {"cpu", "device.memory_gbps", "[[8, 0]]", "device.memory_gbps[0][1]: 0 must be above 0"},
    {"cpu", "target", "\"rocm\"", "target: \"rocm\" must be one of cpu, cuda"},
    {"cpu", "chip", "\"sm_90\"", "chip: \"sm_90\" is of GPUs, the target is cpu"},
    {"dgx-h100", "chip", "\"h100\"", "chip: \"h100\" must be an architecture such as sm_90"},
    {"dgx-h100", "chip", "\"\"", "chip: \"\" must be an architecture such as sm_90"},
    {"dgx-h100", "chip", "\"sm_90a\"", ""},
    {"dgx-h100", "chip", "\"two\\nlines\"", "chip: \"two\\nlines\" must be a name of one line"},
    {"dgx-h100", "name", "\"a\\u202eb\"", "name: \"a\\u202eb\" must be a name of one line"},
    {"cpu", "sources", "{\"device.memory_byte\": \"x\"}", "sources: \"device.memory_byte\" is no place"},
    {"cpu", "sources", "{\"device\": 5}", "sources.device: 5 must be a text"},
    // Numbers against each other.
    {"cpu", "device.context_bytes", "9e9", "device.context_bytes: 9000000000 and communicator_bytes"},
    {"cpu", "links[0].ranks", "4", "links[0].ranks: 4 must be 0: the last level connects all ranks"},
    {"cpu", "node_ranks", "2", ""},
    {"dgx-h100", "node_ranks", "4", "links[0].ranks: 8 must be node_ranks 4"},
    {"dgx-h100", "links[0].message_gbps", "[[8, 5000]]",
     "links[0].message_gbps: 5000.000 GB/s are faster than the device's memory_gbps, 2683.000 GB/s"},
    {"dgx-h100", "links[1].message_gbps", "[[8, 500]]",
     "links[1].message_gbps: 500.000 GB/s are faster than the level's node_gbps, 400.000 GB/s"},
    {"dgx-h100", "links[1].all_gather[0].bus_gbps", "[[8, 450]]",
     "links[1].all_gather[0].bus_gbps: 450.000 GB/s are faster than the level's node_gbps"},
    {"dgx-h100", "links[1].all_reduce[1].bus_gbps", "[[8, 450]]", ""}, // a tree
    {"dgx-h100", "links[0].all_reduce[1].bus_gbps", "[[8, 4000]]",
     "links[0].all_reduce[1].bus_gbps: 4000.000 GB/s are faster than the device's memory_gbps"},
    {"dgx-h100", "links[0].all_reduce[1].algorithm", "\"star\"",
     "links[0].all_reduce[1].algorithm: \"star\" must be one of ring, tree, nvls"},
    {"dgx-h100", "links[0].all_reduce[1].ranks", "1", "links[0].all_reduce[1].ranks: 1 must be at least 2"},
    {"dgx-h100", "host.copy_gbps", "3000", "host.copy_gbps: 3000.000 GB/s are faster than the device's"},
    {"dgx-h100", "host.copy_gbps", "600", "host.copy_gbps: 600.000 GB/s are faster than the host's"},
    // Numbers of no device.
    {"cpu", "device.host_us", "1e30", "device.host_us: 1e+30 must be at most 60000000"},
    {"cpu", "device.memory_bytes", "1e30", "device.memory_bytes: 1e+30 must be at most"},
    {"cpu", "host.tflops", "1e30", "host.tflops: 1e+30 must be at most 1000000000"},
    {"dgx-h100", "device.attention[1].head_dim", "64", "device.attention[1].head_dim: 64 must be above 64"},
};

TEST(ClusterFile, saysWhatIsWrongAndWhere) {
  for (const BadValue &bad : kBadValues) {
    std::string error = findErrorOf(bad.file, bad.path, llvm::cantFail(json::parse(bad.value)));
    std::string expected = *bad.error ? std::string(" ") + bad.error : "";
    EXPECT_EQ(error.substr(0, expected.size()), expected) << bad.path;
    EXPECT_EQ(error.empty(), expected.empty()) << bad.path << ":" << error;
  }
}

TEST(ClusterFile, wantsANetworkWhereThereAreMoreNodesThanOne) {
  json::Object root = toJson(readExample("cpu"));
  root["nodes"] = 4;
  root["node_ranks"] = 2;
  EXPECT_EQ(findError(llvm::formatv("{0}", json::Value(std::move(root)))).substr(0, 45),
            " links: the one level connects the 2 ranks of");
}

TEST(ClusterFile, wantsLevelsThatHoldWholeGroupsOfTheOneBelow) {
  Cluster cluster = readExample("dgx-h100");
  cluster.sources.clear();
  cluster.links.insert(cluster.links.begin() + 1, cluster.links[1]);
  cluster.links[1].ranks = 64;
  EXPECT_EQ(findError(toText(cluster)), "");
  for (int64_t ranks : {0, 8, 12}) {
    cluster.links[1].ranks = ranks;
    EXPECT_EQ(findError(toText(cluster)).substr(0, 40),
              " links[1].ranks: " + std::to_string(ranks) +
                  std::string(" must be a multiple of 8 of").substr(0, 23 - std::to_string(ranks).size()));
  }
}

/// JSON leaves open which one counts.
TEST(ClusterFile, refusesAKeyThatIsThereTwice) {
  EXPECT_EQ(findError("{\"version\": 1,\n\"nodes\": 1,\n\"nodes\": 0}"),
            "3: the key \"nodes\" is in line 2 already; take one of them out");
}

TEST(ClusterFile, saysHowManyRanksThereAreDevicesFor) {
  Cluster cluster = readExample("dgx-h100");
  EXPECT_FALSE(checkDevices(cluster, "c.json", 4096));
  cluster.nodes = 2;
  EXPECT_FALSE(checkDevices(cluster, "c.json", 16));
  EXPECT_EQ(llvm::toString(checkDevices(cluster, "c.json", 17)),
            "c.json: nodes: 2 of node_ranks 8 are 16 devices, but a plan of 17 ranks is asked for; take 16 "
            "or fewer, "
            "or state "
            "the nodes that there are (0: as many as one asks for)");
  EXPECT_FALSE(checkDevices(readExample("cpu"), "c.json", 16)); // ranks share the host
}

TEST(ClusterFile, refusesTextThatIsNoClusterFile) {
  EXPECT_NE(findError("").find("is no JSON"), std::string::npos);
  EXPECT_NE(findError("{").find("is no JSON"), std::string::npos);
  EXPECT_NE(findError("[]").find("is no JSON object"), std::string::npos);
  EXPECT_NE(findError("{}").find("version: is missing"), std::string::npos);
  EXPECT_NE(findError(R"({"version": 1, "name": "c", "target": "cpu", "node_ranks": 1,
                          "device": {"name": "d", "memory_bytes": 1e999}})")
                .find("must be a finite number"),
            std::string::npos);
  EXPECT_NE(findError(std::string(100000, '[')).find("nest deeper"), std::string::npos);
  std::string missing = llvm::toString(readCluster("/nowhere/c.json").takeError());
  EXPECT_EQ(
      missing,
      "/nowhere/c.json: cannot be read: No such file or directory; docs/Clusters.md shows a cluster file");
}

} // namespace
