// Epilogues that kernels compute behind a product alone: chosen, measured, and taken where cuBLASLt has no
// algorithm for both at once. The kernels here add ten times the bias, so that results say who computed it.
#include "Standin.h"
#include "cuda/CublasLtTypes.h"
#include "cuda/CudaDevice.h"

#include <cstring>

using namespace par;
using namespace par::test;
using namespace par::cuda;

namespace {

constexpr int64_t m = 4, n = 8, k = 4, room = 1 << 16;

constexpr char module[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry epilogue_0(\n\t.param .u64 p0,\n\t.param .u64 p1,\n\t.param .u64 p2\n)"
    "\n.maxntid 1, 1, 1\n{\n\tret;\n}\n"
    ".visible .entry epilogue_1(\n\t.param .u64 p0,\n\t.param .u64 p1\n)"
    "\n.maxntid 1, 1, 1\n{\n\tret;\n}\n"
    ".visible .entry epilogue_1_finish(\n\t.param .u64 p0,\n\t.param .u64 p1\n)"
    "\n.maxntid 1, 1, 1\n{\n\tret;\n}\n";

uint64_t at(void **params, int i) {
  uint64_t value = 0;
  std::memcpy(&value, params[i], 8);
  return value;
}
float load(const par_emulation *how, uint64_t address) {
  float value = 0;
  if (void *from = how->access(how->state, address, 4, 4, par_emulation_load, "load"))
    std::memcpy(&value, from, 4);
  return value;
}
void store(const par_emulation *how, uint64_t address, float value) {
  if (void *to = how->access(how->state, address, 4, 4, par_emulation_store, "store"))
    std::memcpy(to, &value, 4);
}

/// bias, product, sum
void addBias(void **params, const uint32_t *, const uint32_t *, uint32_t, const par_emulation *how) {
  for (uint64_t i = 0; i < m * n; ++i)
    store(how, at(params, 2) + 4 * i,
          load(how, at(params, 1) + 4 * i) + 10 * load(how, at(params, 0) + 4 * (i % n)));
}
/// B, scratch: ten times its columns
void sumColumns(void **params, const uint32_t *, const uint32_t *, uint32_t, const par_emulation *how) {
  for (uint64_t j = 0; j < n; ++j) {
    float sum = 0;
    for (uint64_t l = 0; l < k; ++l)
      sum += 10 * load(how, at(params, 0) + 4 * (l * n + j));
    store(how, at(params, 1) + 4 * j, sum);
  }
}
/// scratch, vector
void finish(void **params, const uint32_t *, const uint32_t *, uint32_t, const par_emulation *how) {
  for (uint64_t j = 0; j < n; ++j)
    store(how, at(params, 1) + 4 * j, load(how, at(params, 0) + 4 * j));
}

class SeparateEpilogue : public Standin {
protected:
  void TearDown() override {
    memory.reset();
    device.reset();
  }
  static KernelBuffer buffer(int64_t bytes, BufferAccess access) { return {bytes, access, false}; }
  static KernelWork kernel(const char *name, std::vector<KernelBuffer> buffers) {
    return {name, "generic", {1, 1, 1}, {1, 1, 1}, 0, false, std::move(buffers)};
  }
  static ProductWork product(Epilogue epilogue, bool canBeSeparate = true) {
    ProductWork work{m, n, k, 1, false, false, ProductType::f32, ProductType::f32,
                     k, 0, n, 0, n,     0,     Beta::none};
    work.epilogue = epilogue, work.workspace = 256;
    if (canBeSeparate && epilogue == Epilogue::bias)
      work.separate = {{0, {{4, 4 * n}, {3, 4 * m * n}, {3, 4 * m * n}}, "generic, 1 x 1"}};
    else if (canBeSeparate)
      work.separate = {{1, {{1, 4 * k * n}, {7, 4 * n}}, "column, 1 x 1"},
                       {2, {{7, 4 * n}, {4, 4 * n}}, "finish, 1 x 1"}};
    return work;
  }
  void make(const std::vector<ProductWork> &products) {
    TearDown();
    give("epilogue_0", addBias), give("epilogue_1", sumColumns), give("epilogue_1_finish", finish);
    CudaProgram program{"program0.ptx", module, {}, {}};
    constexpr auto read = BufferAccess::read, write = BufferAccess::write;
    program.work.kernels = {
        kernel("epilogue_0", {buffer(4 * n, read), buffer(4 * m * n, read), buffer(4 * m * n, write)}),
        kernel("epilogue_1", {buffer(4 * k * n, read), buffer(4 * n, write)}),
        kernel("epilogue_1_finish", {buffer(4 * n, read), buffer(4 * n, write)})};
    program.work.products = products;
    CudaDeviceOptions options;
    options.splitsSums = true;
    ASSERT_TRUE(CudaDevice::make(options, device).ok());
    memory = std::make_unique<device::Memory>();
    ASSERT_TRUE(memory->allocate(*device, device::Space::device, room));
    io::Status status = device->load(program);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  /// A is 1, B is 2, and the bias i in column i; `shift`: bytes that the bias lies behind its place.
  io::Status multiply(int32_t number = 0, int64_t shift = 0) {
    std::vector<float> ones(size_t(m * k), 1), twos(size_t(k * n), 2), bias;
    for (int64_t i = 0; i < n; ++i)
      bias.push_back(float(i));
    device->write(memory->begin(), ones.data(), 4 * ones.size());
    device->write(memory->begin() + 1024, twos.data(), 4 * twos.size());
    device->write(memory->begin() + 4096 + shift, bias.data(), 4 * bias.size());
    auto place = [&](int64_t offset) {
      return static_cast<void *>(device->inProgram(memory->begin() + offset));
    };
    void *buffers[] = {place(0),    place(1024),     nullptr,    place(3072), place(4096 + shift),
                       place(5120), place(6 * 1024), place(8192)};
    return device->multiply(number, buffers, nullptr);
  }
  float get(int64_t offset) {
    float value = 0;
    device->read(&value, memory->begin() + offset, 4);
    return value;
  }
  /// How often the bias is in column 3 of the last row.
  float biases() { return (get(3072 + 4 * (3 * n + 3)) - 2 * k) / 3; }
  std::vector<int> tune(std::vector<int> ways, int64_t bytes = room) {
    io::Status status = device->tune({memory->begin(), bytes, 60}, ways);
    EXPECT_TRUE(status.ok()) << status.message();
    return ways;
  }
  std::vector<int> firstWays() {
    std::vector<int> ways;
    io::Status status = device->findFirstWays(memory->begin(), ways);
    EXPECT_TRUE(status.ok()) << status.message();
    return ways;
  }

  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<device::Memory> memory;
};

TEST_F(SeparateEpilogue, KernelsComputeItWhereThatIsChosen) {
  make({product(Epilogue::bias)});
  for (auto [way, times] : {std::pair(0, 1), {firstSeparate, 10}, {0, 1}, {firstSeparate + 5, 10}}) {
    device->chooseWays({way});
    ASSERT_TRUE(multiply().ok());
    EXPECT_EQ(biases(), float(times)) << way;
  }
}

/// A launch leaves sums for the next one in the call's last buffer.
TEST_F(SeparateEpilogue, SeveralLaunchesHaveScratch) {
  make({product(Epilogue::sumsOfB)});
  for (auto [way, times] : {std::pair(0, 1), {firstSeparate, 10}}) {
    device->chooseWays({way});
    ASSERT_TRUE(multiply().ok());
    EXPECT_EQ(get(4096 + 4 * (n - 1)), float(times * 2 * k)) << way;
    EXPECT_EQ(get(3072), float(2 * k)) << way;
  }
}

TEST_F(SeparateEpilogue, WhatHasNoOtherWayIsComputedAtOnce) {
  make({product(Epilogue::bias, /*canBeSeparate=*/false)});
  device->chooseWays({firstSeparate});
  ASSERT_TRUE(multiply().ok());
  EXPECT_EQ(biases(), 1);
}

TEST_F(SeparateEpilogue, KernelsComputeWhatTheLibraryDoesNot) {
  environment.set("PAR_STANDIN_WITHOUT", std::to_string(CUBLASLT_EPILOGUE_BIAS));
  make({product(Epilogue::bias), product(Epilogue::sumsOfB)});
  EXPECT_EQ(firstWays(), (std::vector<int>{firstSeparate, 0}));
  ASSERT_TRUE(multiply().ok());
  EXPECT_EQ(biases(), 10);
  ASSERT_TRUE(multiply(0, 4).ok()); // also where it is asked again for other addresses
  EXPECT_EQ(biases(), 10);
  EXPECT_EQ(tune({-1, -1}), (std::vector<int>{-1, 0})); // of the first there is one way
}

TEST_F(SeparateEpilogue, WithoutKernelsThatIsAnError) {
  environment.set("PAR_STANDIN_WITHOUT", std::to_string(CUBLASLT_EPILOGUE_BIAS));
  make({product(Epilogue::bias, /*canBeSeparate=*/false)});
  EXPECT_EQ(firstWays(), std::vector<int>{0});
  EXPECT_EQ(multiply().message(), "product 0, 4 x 8 x 4 of f32 with bias: cuBLASLt has no algorithm for "
                                  "buffers at multiples of 256 bytes");
}

/// Of the stand-in's algorithms the fourth does not run.
TEST_F(SeparateEpilogue, TheQuickerOneIsFound) {
  std::vector<ProductWork> both{product(Epilogue::bias), product(Epilogue::sumsOfB)};
  make(both);
  EXPECT_EQ(firstWays(), (std::vector<int>{0, 0}));
  EXPECT_EQ(tune({-1, -1}), (std::vector<int>{0, 0}));
  environment.set("PAR_STANDIN_EPILOGUE", "1000");
  EXPECT_EQ(tune({-1, -1}), (std::vector<int>{firstSeparate, firstSeparate}));
  EXPECT_EQ(tune({0, -1}), (std::vector<int>{0, firstSeparate}));
  environment.set("PAR_STANDIN_ALGORITHMS", "5");
  environment.set("PAR_STANDIN_QUICKEST", "4");
  make(both);
  EXPECT_EQ(tune({-1, -1}), (std::vector<int>{firstSeparate + 3, firstSeparate + 3}));
}

TEST_F(SeparateEpilogue, MeasuringChoosesNothing) {
  environment.set("PAR_STANDIN_EPILOGUE", "1000");
  make({product(Epilogue::bias)});
  EXPECT_EQ(tune({-1}), std::vector<int>{firstSeparate});
  ASSERT_TRUE(multiply().ok());
  EXPECT_EQ(biases(), 1);
}

/// A, B, C, the vector, a workspace and scratch, at multiples of 256 bytes each.
TEST_F(SeparateEpilogue, ScratchNeedsRoomToMeasureIn) {
  make({product(Epilogue::sumsOfB)});
  EXPECT_EQ(tune({-1}, 6 * 256), std::vector<int>{0});
  EXPECT_EQ(tune({-1}, 6 * 256 - 1), std::vector<int>{-1});
}

TEST_F(SeparateEpilogue, AKeyTellsWhichKernels) {
  EXPECT_EQ(product(Epilogue::bias).key(),
            "1 of 4 x 8 x 4 A 4,0 B 8,0 C 8,0, f32 to f32, bias or generic, 1 x 1, "
            "workspace 256");
  EXPECT_EQ(
      product(Epilogue::sumsOfB).key(),
      "1 of 4 x 8 x 4 A 4,0 B 8,0 C 8,0, f32 to f32, sums_b or column, 1 x 1, finish, 1 x 1, workspace 256");
  EXPECT_EQ(product(Epilogue::bias, false).key(),
            "1 of 4 x 8 x 4 A 4,0 B 8,0 C 8,0, f32 to f32, bias, workspace 256");
}

} // namespace
