// A GPU as a device, on the stand-in: what every device does, and what only GPUs do.
#include "../Runtime/device/DeviceConformance.h"

#include "Standin.h"
#include "TestKernels.h"
#include "cuda/CudaDevice.h"

using namespace par;
using namespace par::test;
using cuda::CudaDevice;
using cuda::CudaDeviceOptions;

namespace {

std::unique_ptr<CudaDevice> makeDevice(bool poison = true) {
  CudaDeviceOptions options;
  options.poison = poison;
  std::unique_ptr<CudaDevice> device;
  io::Status status = CudaDevice::make(options, device);
  EXPECT_TRUE(status.ok()) << status.message();
  return device;
}

INSTANTIATE_TEST_SUITE_P(Cuda, AnyDevice,
                         testing::Values(DeviceMaker{"standin", [] { return makeDevice(); },
                                                     [] { EXPECT_EQ(standinFindings(), ""); }}),
                         nameOf);

/// A program of two kernels and a product, on an arena of its own.
class CudaProgram : public Standin {
protected:
  static constexpr int64_t bytes = 4096, count = 64;

  void SetUp() override { make(); }
  void TearDown() override {
    memory.reset();
    device.reset();
  }
  void make() {
    give("twice", twice);
    device = makeDevice();
    memory = std::make_unique<device::Memory>();
    ASSERT_TRUE(memory->allocate(*device, device::Space::device, bytes));
    context.device = device.get();
    context.arena = device->inProgram(memory->begin());
    cuda::CudaProgram program{"program0.ptx", testModule, work(), {1, 2}};
    io::Status status = device->load(program);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  static cuda::ProgramWork work() {
    cuda::ProgramWork work;
    cuda::KernelBuffer in{4 * count, cuda::BufferAccess::read, false},
        out{4 * count, cuda::BufferAccess::write, false};
    work.kernels.push_back({"twice", "generic", {1, 1, 1}, {64, 1, 1}, 0, false, {in, out}});
    return work;
  }
  /// Fills floats of the arena.
  void put(int64_t offset, float value) {
    std::vector<float> values(size_t(count), value);
    device->write(memory->begin() + offset, values.data(), 4 * count);
  }
  float get(int64_t offset) {
    float value = 0;
    device->read(&value, memory->begin() + offset, 4);
    return value;
  }
  /// Twice what is at 0, to 512, by way of a copy in another queue.
  static void step(par_context *given) {
    auto &context = *static_cast<Context *>(given);
    device::Queue &compute = context.device->compute();
    context.device->accelerator()->mark(1);
    void *first[] = {given->arena, given->arena + 256};
    EXPECT_TRUE(context.device->accelerator()->launch(0, first).ok());
    EXPECT_TRUE(side->await(compute, compute.record()).ok());
    Address from = context.device->fromProgram(given->arena + 256),
            to = context.device->fromProgram(given->arena + 512);
    uint64_t copied = context.device->copy(*side, to, from, 4 * count);
    EXPECT_TRUE(compute.await(*side, copied).ok());
    context.device->accelerator()->mark(2);
    calls++;
  }

  /// The same copy, which waits for nothing but what was done before the step.
  static void stepFromTheSide(par_context *given) {
    auto &context = *static_cast<Context *>(given);
    device::Queue &compute = context.device->compute();
    EXPECT_TRUE(side->await(compute, compute.record()).ok());
    Address from = context.device->fromProgram(given->arena),
            to = context.device->fromProgram(given->arena + 512);
    EXPECT_TRUE(compute.await(*side, context.device->copy(*side, to, from, 4 * count)).ok());
    calls++;
  }

  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<device::Memory> memory;
  Context context;
  static device::Queue *side;
  static int calls;
};
device::Queue *CudaProgram::side;
int CudaProgram::calls;

TEST_F(CudaProgram, KernelsRunByNumber) {
  put(0, 3);
  void *buffers[] = {context.arena, context.arena + 256};
  EXPECT_TRUE(device->launch(0, buffers).ok());
  EXPECT_EQ(get(256 + 4 * (count - 1)), 6);
  EXPECT_EQ(device->launch(1, buffers).message(), "launched kernel 1 of 1; compile the package again");
  EXPECT_EQ(device->launch(-1, buffers).message(), "launched kernel -1 of 1; compile the package again");
}

/// The first time as it is, the second time recorded, then launched alone; always the same bytes.
TEST_F(CudaProgram, AStepBecomesAGraph) {
  for (const char *seed : {"1", "2", "3"}) {
    TearDown();
    environment.set("PAR_STANDIN_SEED", seed);
    restart();
    make();
    std::unique_ptr<device::Queue> queue = device->makeQueue(4, {});
    side = queue.get(), calls = 0;
    device->setRecords(true);
    for (int round = 1; round <= 5; ++round) {
      put(0, float(round));
      device->launch(step, context);
      EXPECT_EQ(calls, std::min(round, 2));
      int32_t seen = -1;
      EXPECT_TRUE(device->finish([&](int32_t action) { seen = action; }).ok());
      EXPECT_EQ(seen, 2);
      EXPECT_EQ(get(512), 2 * float(round));
    }
    EXPECT_EQ(device->recordedNodes(step), 4u); // two marks, a kernel, a copy
  }
}

/// What was waited for before is no part of a recording.
TEST_F(CudaProgram, AStepThatBeginsWithAWaitBecomesAGraph) {
  std::unique_ptr<device::Queue> queue = device->makeQueue(4, {});
  side = queue.get(), calls = 0;
  device->setRecords(true);
  for (int round = 1; round <= 4; ++round) {
    put(0, float(round));
    device->compute().wait(device->compute().record());
    device->launch(stepFromTheSide, context);
    EXPECT_EQ(calls, std::min(round, 2));
    EXPECT_TRUE(device->finish([](int32_t) {}).ok());
    EXPECT_EQ(get(512), float(round));
  }
  EXPECT_EQ(device->recordedNodes(stepFromTheSide), 1u);
}

TEST_F(CudaProgram, WithoutRecordingAStepIsCalledEachTime) {
  std::unique_ptr<device::Queue> queue = device->makeQueue(4, {});
  side = queue.get(), calls = 0;
  for (int round = 1; round <= 3; ++round) {
    put(0, float(round));
    device->launch(step, context);
    EXPECT_TRUE(device->finish([](int32_t) {}).ok());
    EXPECT_EQ(get(512), 2 * float(round));
  }
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(device->recordedNodes(step), 0u);
}

/// What a program leaves out is found when its step is recorded, or by the stand-in.
TEST_F(CudaProgram, AStepThatIsNotJoinedFails) {
  std::unique_ptr<device::Queue> queue = device->makeQueue(4, {});
  side = queue.get();
  device->setRecords(true);
  put(0, 1);
  auto unjoined = [](par_context *given) {
    auto &context = *static_cast<Context *>(given);
    (void)side->await(context.device->compute(), context.device->compute().record());
    Address from = context.device->fromProgram(given->arena),
            to = context.device->fromProgram(given->arena + 512);
    context.device->copy(*side, to, from, 4);
  };
  device->launch(unjoined, context);
  device->launch(unjoined, context);
  EXPECT_EQ(device->finish([](int32_t) {}).message(),
            "cuStreamEndCapture: capturing stream has unjoined work (CUDA_ERROR_STREAM_CAPTURE_UNJOINED)");
  EXPECT_EQ(findings(), "a capture ends while copy of 4 bytes on stream 2 is not waited for\n");
}

TEST_F(CudaProgram, AKernelThatFailsIsToldAtTheEnd) {
  TearDown();
  environment.set("PAR_STANDIN_FAULT", "launch@2");
  restart();
  make();
  put(0, 1);
  void *buffers[] = {context.arena, context.arena + 256};
  EXPECT_TRUE(device->launch(0, buffers).ok());
  EXPECT_TRUE(device->finish([](int32_t) {}).ok());
  EXPECT_TRUE(device->launch(0, buffers).ok());
  EXPECT_EQ(
      device->finish([](int32_t) {}).message(),
      "cuEventQuery: unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED); see whether the system's log "
      "(dmesg) has an Xid for it, and start again");
  EXPECT_THROW(get(0), std::runtime_error);
}

TEST_F(CudaProgram, ModulesThatTheDriverDoesNotTakeAreNamed) {
  std::unique_ptr<CudaDevice> other = makeDevice();
  cuda::CudaProgram program{
      "program0.ptx", ".version 9.9\n.target sm_90\n.visible .entry twice() { ret; }", work(), {}};
  EXPECT_EQ(
      other->load(program).message(),
      "program0.ptx: the driver does not load it: cuModuleLoadDataEx: the provided PTX was compiled with an "
      "unsupported toolchain. (CUDA_ERROR_UNSUPPORTED_PTX_VERSION), Unsupported .version; compile the "
      "package "
      "again for this GPU");
  std::unique_ptr<CudaDevice> third = makeDevice();
  program.ptx = testModule;
  program.work.kernels[0].name = "thrice";
  EXPECT_EQ(third->load(program).message(),
            "program0.ptx: kernel thrice: cuModuleGetFunction: named symbol not found "
            "(CUDA_ERROR_NOT_FOUND); compile the package again");
}

TEST_F(CudaProgram, MeasuresWhatItReaches) {
  device::Rates rates = device->measureRates();
  EXPECT_GT(rates.copyBytes, 0);
  EXPECT_GT(rates.flops, 0);
}

/// The sums of every transport, to the bit: one member after the other, bf16 in f32 and rounded once.
TEST_F(CudaProgram, CombinesInTheOrderOfItsSources) {
  ASSERT_TRUE(device->reserve(3, 0).ok()); // the rest is combined behind it, three elements at a time
  const float values[] = {1e8f, 1, -1e8f};
  for (int i = 0; i < 3; ++i)
    put(256 * i, values[i]);
  Address sources[] = {memory->begin(), memory->begin() + 256, memory->begin() + 512};
  Address targets[] = {memory->begin(), memory->begin() + 1024};
  auto combine = [&](device::Combination how, device::Element type, int64_t elements) {
    EXPECT_TRUE(device->combine(device->compute(), how, type, sources, 3, targets, 2, elements).ok());
  };
  combine(device::Combination::sum, device::Element::f32, count);
  EXPECT_EQ(get(0), (1e8f + 1) - 1e8f);
  EXPECT_EQ(get(1024 + 4 * (count - 1)), get(0));
  combine(device::Combination::max, device::Element::f32, count);
  EXPECT_EQ(get(1024), 1);
  const uint16_t narrow[] = {0x4380 /* 256 */, 0x3F80 /* 1 */, 0x3F80};
  for (int i = 0; i < 3; ++i)
    device->write(sources[i], &narrow[i], 2);
  combine(device::Combination::sum, device::Element::bf16, 1);
  uint16_t sum = 0;
  device->read(&sum, targets[1], 2);
  EXPECT_EQ(sum, 0x4381); // 258: rounded after each sum it would be 256
}

TEST_F(CudaProgram, WhoHoldsMemoryIsToldWhereRoomIsMissing) {
  std::string message = device->reserve(0, int64_t(1) << 40).message();
  EXPECT_EQ(message.rfind("needs 1099511627776 bytes for what is received on GPU 0 (stand-in), of whose ", 0),
            0u)
      << message;
  EXPECT_NE(
      message.find(" are free: the rest is held by this run, other processes (nvidia-smi lists them) and the "
                   "driver; end those, or use a smaller model or batch"),
      std::string::npos)
      << message;
}

class CudaGpu : public Standin {
protected:
  std::string check(const char *chip, const char *ptx) {
    std::unique_ptr<cuda::Gpu> gpu;
    EXPECT_TRUE(cuda::Gpu::open(0, 1, gpu).ok());
    return gpu->check({chip, ptx}).message();
  }
  void set(const char *name, const char *value) {
    environment.set(name, value);
    restart();
  }
};

TEST_F(CudaGpu, APackageOfAnotherChipIsRefused) {
  EXPECT_EQ(check("sm_90", "8.0"), "");
  EXPECT_EQ(check("sm_90a", "8.0"), "");
  EXPECT_EQ(check("sm_80", "8.0"), "");
  set("PAR_STANDIN_CHIP", "100");
  EXPECT_EQ(check("sm_90", "8.0"), "");
  EXPECT_EQ(check("sm_90a", "8.0"),
            "was compiled for sm_90a, but GPU 0 (stand-in) is sm_100; compile with --chip sm_90");
  set("PAR_STANDIN_CHIP", "80");
  EXPECT_EQ(check("sm_90", "8.0"),
            "was compiled for sm_90, but GPU 0 (stand-in) is sm_80; compile with --chip sm_80");
  set("PAR_STANDIN_CHIP", "86"); // which par-compile has no name for
  EXPECT_EQ(check("sm_90", "8.0"),
            "was compiled for sm_90, but GPU 0 (stand-in) is sm_86; compile with --chip sm_80");
  set("PAR_STANDIN_CHIP", "75");
  EXPECT_EQ(check("sm_80", "8.0"),
            "was compiled for sm_80, but GPU 0 (stand-in) is sm_75; par compiles for sm_80 and newer, so "
            "take a newer GPU, or compile with --target cpu");
}

TEST_F(CudaGpu, AnOldDriverIsRefused) {
  set("PAR_STANDIN_DRIVER", "12000");
  EXPECT_EQ(check("sm_90", "8.0"), "");
  EXPECT_EQ(check("sm_90", "8.1"),
            "has PTX 8.1, but the driver is that of CUDA 12.0, which reads up to 8.0; install a "
            "newer NVIDIA's driver (Debian: nvidia-driver, libcuda1)");
  set("PAR_STANDIN_DRIVER", "11080");
  EXPECT_EQ(
      check("sm_90", "8.0").find("has PTX 8.0, but the driver is that of CUDA 11.8, which reads up to 7.8"),
      0u);
  set("PAR_STANDIN_DRIVER", "13000");
  EXPECT_EQ(check("sm_90", "9.0"), "");
}

TEST_F(CudaGpu, TooFewGpusAreNamed) {
  std::unique_ptr<cuda::Gpu> gpu;
  set("PAR_STANDIN_DEVICES", "2");
  EXPECT_TRUE(cuda::Gpu::open(1, 4, gpu).ok());
  EXPECT_EQ(cuda::Gpu::open(2, 4, gpu).message(), "a package for CUDA needs a GPU for each of 4 ranks on "
                                                  "this machine, which has 2; start fewer ranks here, or "
                                                  "see CUDA_VISIBLE_DEVICES");
}

TEST_F(CudaGpu, RequirementsAreRead) {
  EXPECT_EQ(cuda::problemOf({"sm_90a", "8.0"}), "");
  EXPECT_EQ(cuda::problemOf({"gfx90", "8.0"}), "chip is \"gfx90\", expected sm_90 or the like");
  EXPECT_EQ(cuda::problemOf({"sm_90b", "8.0"}), "chip is \"sm_90b\", expected sm_90 or the like");
  EXPECT_EQ(cuda::problemOf({"sm_90", "80"}), "ptx is \"80\", expected 8.0 or the like");
}

} // namespace
