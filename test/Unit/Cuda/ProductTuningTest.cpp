// Ways in which cuBLASLt computes a product: the quickest is found on the device, in scratch memory, within a
// time. The stand-in has of four algorithms one that has sums of half of k in its workspace, one that begins
// with the last of k, and one that does not run.
#include "Standin.h"
#include "comm/Reduce.h"
#include "cuda/CudaDevice.h"

using namespace par;
using namespace par::test;
using namespace par::cuda;

namespace {

ProductWork square(int64_t size, int64_t workspace = 4096) {
  ProductWork work{size, size, size, 1, false, false, ProductType::f32, ProductType::f32,
                   size, 0,    size, 0, size,  0,     Beta::none};
  work.workspace = workspace;
  return work;
}

class ProductTuning : public Standin {
protected:
  void SetUp() override {
    environment.set("PAR_STANDIN_ALGORITHMS", "5");
    environment.set("PAR_STANDIN_QUICKEST", "0");
  }
  void TearDown() override {
    memory.reset();
    device.reset();
  }
  void make(const std::vector<ProductWork> &products, bool splitsSums = true) {
    TearDown();
    CudaDeviceOptions options;
    options.splitsSums = splitsSums;
    ASSERT_TRUE(CudaDevice::make(options, device).ok());
    memory = std::make_unique<device::Memory>();
    ASSERT_TRUE(memory->allocate(*device, device::Space::device, room));
    CudaProgram program;
    program.work.products = products;
    io::Status status = device->load(program);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::vector<int> tune(std::vector<int> ways, int64_t bytes = room, double seconds = 60) {
    io::Status status = device->tune({memory->begin(), bytes, seconds}, ways);
    EXPECT_TRUE(status.ok()) << status.message();
    return ways;
  }
  void *at(int64_t offset) { return device->inProgram(memory->begin() + offset); }
  /// The first element of a product of square(8): large numbers that cancel each other, and small ones.
  float firstOf(int32_t number) {
    std::vector<float> a(64, 0), b(64, 1);
    a[0] = 1e8f, a[1] = 1, a[2] = -1e8f, a[5] = 3;
    device->write(memory->begin(), a.data(), 256);
    device->write(memory->begin() + 256, b.data(), 256);
    void *buffers[] = {at(0), at(256), nullptr, at(512), at(1024)};
    EXPECT_TRUE(device->multiply(number, buffers, nullptr).ok());
    float value = 0;
    device->read(&value, memory->begin() + 512, 4);
    return value;
  }

  static constexpr int64_t room = 1 << 20;
  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<device::Memory> memory;
};

/// Those that do not run are not counted.
TEST_F(ProductTuning, TheQuickestWayIsFound) {
  for (auto [quickest, way] : {std::pair("0", 0), {"1", 1}, {"2", 2}, {"4", 3}}) {
    environment.set("PAR_STANDIN_QUICKEST", quickest);
    make({square(8), square(6)});
    EXPECT_EQ(tune({-1, -1}), (std::vector<int>{way, way})) << quickest;
  }
}

TEST_F(ProductTuning, TheFirstStaysWhereNoneIsQuicker) {
  environment.set("PAR_STANDIN_QUICKEST", "100");
  make({square(8)});
  EXPECT_EQ(tune({-1}), std::vector<int>{0});
}

/// Where one order is asked for, there is no way with sums of parts of k; without a workspace none that needs
/// one.
TEST_F(ProductTuning, WaysAreThoseThatArePossible) {
  environment.set("PAR_STANDIN_QUICKEST", "2");
  make({square(8)}, /*splitsSums=*/false);
  EXPECT_EQ(tune({-1}), std::vector<int>{1});
  environment.set("PAR_STANDIN_QUICKEST", "4");
  make({square(8), square(6, 0)});
  EXPECT_EQ(tune({-1, -1}), (std::vector<int>{3, 1}));
}

TEST_F(ProductTuning, OneWayAloneIsNotMeasured) {
  environment.set("PAR_STANDIN_ALGORITHMS", "1");
  make({square(8)});
  EXPECT_EQ(tune({-1}), std::vector<int>{-1});
}

TEST_F(ProductTuning, WhatIsKnownIsNotMeasured) {
  environment.set("PAR_STANDIN_QUICKEST", "1");
  make({square(8), square(6)});
  EXPECT_EQ(tune({2, -1}), (std::vector<int>{2, 1}));
}

/// The largest are measured first, so that there is time for them.
TEST_F(ProductTuning, TimeAndMemoryAreLimited) {
  environment.set("PAR_STANDIN_QUICKEST", "1");
  make({square(6), square(8)});
  EXPECT_EQ(tune({-1, -1}, room, 0), (std::vector<int>{-1, -1}));
  make({square(6), square(160)}); // of which that takes some seconds
  EXPECT_EQ(tune({-1, -1}, room, 0.1), (std::vector<int>{-1, -1}));
  make({square(6), square(8)});
  EXPECT_EQ(tune({-1, -1}, 3 * 256 + 4096), (std::vector<int>{1, 1}));
  EXPECT_EQ(tune({-1, -1}, 3 * 256 + 4095), (std::vector<int>{-1, -1}));
  make({square(6, 256), square(8)});
  EXPECT_EQ(tune({-1, -1}, 3 * 256 + 256), (std::vector<int>{1, -1}));
}

TEST_F(ProductTuning, AWayThatIsChosenIsTaken) {
  make({square(8)});
  EXPECT_EQ(firstOf(0), 3); // 1e8 + 1 is 1e8
  device->chooseWays({1});
  EXPECT_EQ(firstOf(0), 3);
  device->chooseWays({2}); // 3 - 1e8 + 1 + 1e8, where 3 - 1e8 and all after it are multiples of 8
  EXPECT_EQ(firstOf(0), 0);
  device->chooseWays({7}); // there are not so many
  EXPECT_EQ(firstOf(0), 3);
}

TEST_F(ProductTuning, MeasuringChoosesNothing) {
  environment.set("PAR_STANDIN_ALGORITHMS", "3"); // the last adds up otherwise
  environment.set("PAR_STANDIN_QUICKEST", "2");
  make({square(8)});
  EXPECT_EQ(tune({-1}), std::vector<int>{2});
  EXPECT_EQ(firstOf(0), 3);
}

/// Each rule of cuBLASLt is kept: the stand-in finds nothing.
TEST_F(ProductTuning, AllKindsOfProducts) {
  environment.set("PAR_STANDIN_QUICKEST", "1");
  std::vector<ProductWork> products;
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (Beta beta : {Beta::none, Beta::one, Beta::value})
        for (int64_t batch : {1, 3}) {
          ProductWork work = square(8, 4096);
          work.m = 5, work.k = 7, work.transposeA = transposeA, work.transposeB = transposeB,
          work.beta = beta;
          work.lda = 9, work.ldb = 10, work.ldc = 11, work.batch = batch;
          work.strideA = work.strideB = work.strideC = 100;
          products.push_back(work);
        }
  for (size_t epilogue = 1; epilogue < epilogueNames.size(); ++epilogue)
    for (ProductType type : {ProductType::f32, ProductType::bf16}) {
      ProductWork work = square(8);
      work.type = work.result = type, work.epilogue = Epilogue(epilogue);
      products.push_back(work);
    }
  make(products);
  EXPECT_EQ(tune(std::vector<int>(products.size(), -1)), std::vector<int>(products.size(), 1));
}

TEST_F(ProductTuning, AWorkspaceThatIsMissingIsNamed) {
  make({square(8)});
  void *buffers[] = {at(0), at(256), nullptr, at(512), nullptr};
  EXPECT_EQ(device->multiply(0, buffers, nullptr).message(),
            "product 0 has no workspace; compile the package again");
}

TEST_F(ProductTuning, AWorkspaceOverTheResultIsFound) {
  make({square(8)});
  device->chooseWays({1});
  std::vector<float> ones(128, 1);
  device->write(memory->begin(), ones.data(), 512);
  void *buffers[] = {at(0), at(256), nullptr, at(1024), at(1024)};
  EXPECT_FALSE(device->multiply(0, buffers, nullptr).ok());
  EXPECT_EQ(findings(), "cublasLtMatmul: its workspace lies over what it reads or writes\n");
}

/// Two streams with one workspace: no event orders them.
TEST_F(ProductTuning, AWorkspaceOfTwoStreamsIsFound) {
  make({square(8)});
  device->fill(memory->begin(), 0, room);
  Products products;
  ASSERT_TRUE(products.load({square(8)}, true).ok());
  products.chooseWay(0, 1);
  std::unique_ptr<device::Queue> one = device->makeQueue(1, {}), other = device->makeQueue(1, {});
  for (auto [queue, result] : {std::pair(one.get(), 512), {other.get(), 768}}) {
    void *buffers[] = {at(0), at(256), nullptr, at(result), at(4096)};
    ASSERT_TRUE(products.multiply(0, buffers, {}, static_cast<CudaQueue *>(queue)->stream()).ok());
  }
  for (device::Queue *queue : {one.get(), other.get()})
    EXPECT_EQ(cu.cuStreamSynchronize(static_cast<CudaQueue *>(queue)->stream()), CUDA_SUCCESS);
  EXPECT_NE(findings().find("race: cublasLtMatmul on stream "), std::string::npos);
}

TEST_F(ProductTuning, TheMachineIsDescribed) {
  make({square(8)});
  std::string machine;
  ASSERT_TRUE(device->describeMachine(machine).ok());
  EXPECT_EQ(machine, "stand-in, CUDA 12.8, cuBLASLt 13.0.2");
}

} // namespace
