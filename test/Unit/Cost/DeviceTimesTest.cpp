//===- DeviceTimesTest.cpp - seconds of what one device computes ----------------------------------------===//
#include "par/Cost/DeviceTimes.h"
#include "par/Cost/ClusterFile.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {

/// Four units, each with 10 operations a second in bf16 and 5 in f32; memory so fast that it does not count.
DeviceModel makeDevice() {
  DeviceModel device;
  device.memory.points = {{1, 1e9}};
  device.kernelFlops = 4;
  device.products.peakBF16 = 80;
  device.products.peakF32 = 40;
  device.products.share = 0.5;
  device.products.units = 4;
  device.products.tileRows = device.products.tileColumns = 8;
  device.products.depth = 4;
  device.products.alignment = 8;
  device.products.unalignedShare = 0.5;
  return device;
}

double seconds(ProductShape shape, const DeviceModel &device = makeDevice()) {
  return getProductSeconds(shape, device);
}
constexpr double kMargin = 1e-6; // what memory adds

TEST(DeviceTimes, ProductsAreComputedInWavesOfTiles) {
  // Four tiles of 8×8 and 12 + 4 terms, on four units of 10 operations a second.
  EXPECT_NEAR(seconds({FloatKind::BF16, 1, 16, 16, 12}), 2 * 64 * 16 / 10.0 / 0.5, kMargin) << "unaligned k";
  EXPECT_NEAR(seconds({FloatKind::BF16, 1, 16, 16, 16}), 2 * 64 * 20 / 10.0, kMargin);
  EXPECT_NEAR(seconds({FloatKind::F32, 1, 16, 16, 16}), 2 * 64 * 20 / 5.0, kMargin);
  // A batch of four fills them as well as four tiles do.
  EXPECT_NEAR(seconds({FloatKind::BF16, 4, 8, 8, 16}), seconds({FloatKind::BF16, 1, 16, 16, 16}), kMargin);
  // Six tiles on four units are two waves; twelve half as wide, at 0.95 of the rate, are three, which is
  // quicker.
  EXPECT_NEAR(seconds({FloatKind::BF16, 1, 24, 16, 16}), 3 * 2 * 32 * 20 / 9.5, kMargin);
}

TEST(DeviceTimes, SizesThatAreNoMultipleRunSlower) {
  double whole = seconds({FloatKind::BF16, 1, 16, 16, 16}), odd = seconds({FloatKind::BF16, 1, 16, 15, 16});
  EXPECT_NEAR(odd, 2 * whole, kMargin);
  DeviceModel device = makeDevice();
  device.products.fullAlignment = 32;
  device.products.alignedShare = 0.8;
  EXPECT_NEAR(seconds({FloatKind::BF16, 1, 16, 16, 16}, device), whole / 0.8, kMargin) << "of 8, not of 32";
  EXPECT_NEAR(seconds({FloatKind::BF16, 1, 16, 15, 16}, device), odd, kMargin) << "not of 8 either";
}

TEST(DeviceTimes, LongSumsOfFewTilesAreShared) {
  // One tile of 4,096 terms: on one unit 2 · 64 · 4100 / 10.
  EXPECT_LT(seconds({FloatKind::BF16, 1, 8, 8, 4096}), 0.3 * 2 * 64 * 4100 / 10.0);
}

TEST(DeviceTimes, DotProductsNeedNoTiles) {
  EXPECT_NEAR(seconds({FloatKind::BF16, 1, 1, 1, 16}), 2 * 16 / 4.0, kMargin);
}

TEST(DeviceTimes, NothingIsFasterThanMemory) {
  DeviceModel device = makeDevice();
  device.memory.points = {{1, 2}};
  EXPECT_GE(seconds({FloatKind::BF16, 1, 16, 16, 16}, device), 3 * 256 * 2 / 2.0);
  EXPECT_DOUBLE_EQ(getKernelSeconds(10, 0, device), 5);
  EXPECT_DOUBLE_EQ(getKernelSeconds(10, 40, device), 10);
  EXPECT_EQ(getKernelSeconds(0, 0, device), 0);
  device.memory.points = {{1, 1}, {100, 10}};
  EXPECT_NEAR(getKernelSeconds(10, 0, device), 10 / std::sqrt(10), 1e-9);
}

TEST(DeviceTimes, AttentionCountsWhatIsSeen) {
  DeviceModel device = makeDevice();
  device.attention = {{64, {{{1, 0.5}}}, {{{1, 0.25}}}}, {128, {{{1, 0.125}}}, {{{1, 0.125}}}}};
  AttentionShape shape;
  shape.type = FloatKind::BF16;
  shape.batch = 2, shape.heads = 4, shape.queryRows = shape.keyRows = 1024, shape.headDim = 64;
  double products = 2.0 * 8 * 1024 * 1024 * 64; // one of queries by keys
  EXPECT_NEAR(getAttentionSeconds(shape, device), 2 * products / 2 / 40, 1);
  shape.causal = false;
  EXPECT_NEAR(getAttentionSeconds(shape, device), 2 * products / 40, 1);
  shape.backward = true;
  EXPECT_NEAR(getAttentionSeconds(shape, device), 5 * products / 20, 1);
  shape.headDim = 120; // the nearest that is known
  EXPECT_NEAR(getAttentionSeconds(shape, device), 5 * products * 120 / 64 / 10, 1);
  // Two of the five products have values of another size, and one of two.
  shape.headDim = 64, shape.valueDim = 32;
  EXPECT_NEAR(getAttentionSeconds(shape, device), (3 + 2 * 0.5) * products / 20, 1);
  shape.backward = false;
  EXPECT_NEAR(getAttentionSeconds(shape, device), 1.5 * products / 40, 1);
}

Cluster read(const char *name) {
  return cantFail(readCluster(std::string(PAR_TEST_DIR "/../examples/clusters/") + name));
}

// cuDNN 9.14 on an H200 in steps, causal: TFLOP/s forward and back (docs/Performance.md, Steps on an H200).
// Of two cards with heads of 128 what is between them.
TEST(DeviceTimes, AttentionOfAnH200) {
  Cluster cluster = read("hgx-h200.json");
  for (auto [rows, heads, size, forward, backward] :
       {std::tuple(1024, 400, 64, 250., 202.), {8192, 64, 64, 430., 335.}, {8192, 32, 128, 543., 405.}}) {
    AttentionShape shape;
    shape.type = FloatKind::BF16;
    shape.heads = heads, shape.queryRows = shape.keyRows = rows, shape.headDim = size;
    double product = double(heads) * rows * rows * size; // causal half of 2
    EXPECT_NEAR(2 * product / getAttentionSeconds(shape, cluster.device) / 1e12 / forward, 1, 0.05);
    shape.backward = true;
    EXPECT_NEAR(5 * product / getAttentionSeconds(shape, cluster.device) / 1e12 / backward, 1, 0.05);
  }
}

// Large products of an H200 sustain 752 TFLOP/s in a step, those of layers 650 to 730 (docs/Performance.md).
TEST(DeviceTimes, ProductsOfAnH200) {
  Cluster cluster = read("hgx-h200.json");
  auto rate = [&](int64_t m, int64_t n, int64_t k) {
    return 2e-12 * double(m) * double(n) * double(k) /
           getProductSeconds({FloatKind::BF16, 1, m, n, k}, cluster.device);
  };
  EXPECT_NEAR(rate(16384, 16384, 16384), 752, 0.05 * 752);
  EXPECT_GT(rate(8192, 14336, 4096), 630);
  EXPECT_LT(rate(8192, 14336, 4096), 740);
  EXPECT_LT(rate(128, 4096, 4096), 450); // few rows: weights come from memory
}

} // namespace
