//===- MeasuredClusterTest.cpp - clusters of figures whose rates are known ------------------------------===//
#include "par/Cost/ClusterFile.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Cost/DeviceTimes.h"
#include "par/Planner/Calibrate.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir::par;
namespace json = llvm::json;

// A machine of two cores whose products take 2 m n (k + 20) / 1e11 seconds, whose memory moves 2e10 bytes per
// second, and whose rings take 5 us, 3 us for each step, and a second for 1e9 bus bytes.
static json::Object makeFigures() {
  json::Array products, kernels, attention, collectives, messages;
  auto addProduct = [&](const char *type, int64_t m, int64_t n, int64_t k, double slower) {
    double seconds = slower * 2 * double(m) * double(n) * double(k + 20) / 1e11;
    products.push_back(json::Object{{"type", type}, {"m", m}, {"n", n}, {"k", k}, {"seconds", seconds}});
  };
  addProduct("f32", 1024, 1024, 1024, 1);
  addProduct("bf16", 1024, 1024, 1024, 0.5);
  addProduct("f32", 1021, 1021, 1021, 1.25);
  addProduct("f32", 1024, 1024, 64, 1);
  for (int64_t bytes : {65536, 1 << 20})
    kernels.push_back(json::Object{{"bytes", bytes}, {"seconds", double(bytes) / 2e10}});
  for (bool backward : {false, true})
    attention.push_back(json::Object{{"head_dim", 64},
                                     {"rows", 256},
                                     {"heads", 8},
                                     {"backward", backward},
                                     {"seconds", (backward ? 5 : 2) * 256. * 256 * 8 * 64 / 5e10}});
  for (const char *kind : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"})
    for (int64_t ranks : {2, 4})
      for (int64_t bytes : {0, 1 << 16, 1 << 20}) {
        double bus = (kind == llvm::StringRef("all_reduce") ? 2 : 1) * double(bytes) * double(ranks - 1) /
                     double(ranks);
        collectives.push_back(json::Object{{"kind", kind},
                                           {"ranks", ranks},
                                           {"bytes", std::max<int64_t>(bytes, 1)},
                                           {"seconds", 5e-6 + 3e-6 * double(ranks - 1) + bus / 1e9}});
      }
  for (int64_t bytes : {1, 1 << 20})
    messages.push_back(json::Object{{"bytes", bytes}, {"seconds", 4e-6 + double(bytes - 1) / 3e9}});
  return json::Object{{"version", 1},
                      {"processor", "Two Cores"},
                      {"cores", 2},
                      {"memory_bytes", 8e9},
                      {"start_seconds", 1e-6},
                      {"kernel_flops", 2e10},
                      {"products", std::move(products)},
                      {"kernels", std::move(kernels)},
                      {"attention", std::move(attention)},
                      {"collectives", std::move(collectives)},
                      {"messages", std::move(messages)},
                      {"compute_share", 0.5},
                      {"communicate_share", 0.4}};
}

static Cluster makeValid() {
  llvm::Expected<Cluster> cluster = makeCluster(makeFigures());
  if (!cluster) {
    ADD_FAILURE() << llvm::toString(cluster.takeError());
    return {};
  }
  return std::move(*cluster);
}

TEST(MeasuredCluster, RatesComeBack) {
  Cluster cluster = makeValid();
  const ProductRates &products = cluster.device.products;
  EXPECT_EQ(products.depth, 20);
  EXPECT_NEAR(products.peakF32, 1e11, 1e9);
  EXPECT_NEAR(products.peakBF16, 2e11, 2e9);
  EXPECT_NEAR(products.unalignedShare, 0.8, 0.001);
  EXPECT_EQ(products.units, 2);
  EXPECT_NEAR(cluster.device.memory.at(1 << 18), 2e10, 1e6);
  EXPECT_NEAR(cluster.device.attention.at(0).forward.at(256), 0.5, 0.01);
  EXPECT_NEAR(cluster.device.attention.at(0).backward.at(256), 0.5, 0.01);
  EXPECT_DOUBLE_EQ(cluster.concurrency.computeShare, 0.5);
  EXPECT_DOUBLE_EQ(cluster.concurrency.communicateShare, 0.4);
}

TEST(MeasuredCluster, PredictsWhatWasMeasured) {
  Cluster cluster = makeValid();
  ProductShape shape;
  shape.m = shape.n = 1024;
  shape.k = 64;
  EXPECT_NEAR(getProductSeconds(shape, cluster.device), 2. * 1024 * 1024 * 84 / 1e11, 2e-5);
  for (int64_t ranks : {2, 4}) {
    const LinkLevel &level = cluster.links.front();
    const CollectiveRates &rates = level.allReduce[ranks == 2 ? 0 : 1];
    EXPECT_EQ(rates.ranks, ranks);
    EXPECT_NEAR(rates.latency, 5e-6, 1e-7);
    EXPECT_NEAR(rates.stepLatency, 3e-6, 1e-7);
    EXPECT_NEAR(rates.rate.at(1 << 18), 1e9, 1e7);
  }
  EXPECT_NEAR(cluster.links.front().message.at(1 << 20), 3e9, 3e7);
}

// Ranks divide the cores; the file that is written is read as the same cluster.
TEST(MeasuredCluster, IsASharedHost) {
  Cluster cluster = makeValid();
  EXPECT_TRUE(cluster.device.isShared);
  EXPECT_NEAR(shareOut(cluster, 4).device.products.peakF32, 0.25e11, 1e9);
  std::string text = llvm::formatv("{0}", json::Value(toJson(cluster)));
  llvm::Expected<Cluster> again = parseCluster("file", text);
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_TRUE(listUnsourced(*again).empty());
}

// What runs faster than the memory it reads was measured in caches: it is taken at the memory's rate.
TEST(MeasuredCluster, NothingIsFasterThanMemory) {
  json::Object figures = makeFigures();
  for (json::Value &item : *figures.getArray("messages"))
    (*item.getAsObject())["seconds"] = 4e-6;
  llvm::Expected<Cluster> cluster = makeCluster(figures);
  ASSERT_TRUE(bool(cluster)) << llvm::toString(cluster.takeError());
  EXPECT_LE(cluster->links.front().message.at(1 << 20), 2.001e10);
}

TEST(MeasuredCluster, FiguresThatAreMissingAreNamed) {
  for (const char *key : {"cores", "memory_bytes", "products", "kernels", "attention", "messages",
                          "collectives", "kernel_flops", "start_seconds", "compute_share"}) {
    json::Object figures = makeFigures();
    figures.erase(key);
    llvm::Expected<Cluster> cluster = makeCluster(figures);
    ASSERT_FALSE(bool(cluster)) << key;
    EXPECT_NE(llvm::toString(cluster.takeError()).find(std::string("\"") + key + "\""), std::string::npos)
        << key;
  }
}
