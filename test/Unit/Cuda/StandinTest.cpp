// The stand-in computes, in any order that streams and events allow, and finds nothing where nothing is
// wrong.
#include "DriverTest.h"
#include "standin/Extents.h"

#include <thread>

using namespace par::test;

namespace {

class StandinWorks : public DriverTest {
protected:
  /// Twice in stream two, between two steps in stream one.
  void step() {
    fill(one, at(0), 3);
    order(one, first, two);
    check(launch(two, at(0), at(512)));
    order(two, second, one);
    check(launch(one, at(512), at(0)));
  }
};

/// Threads touch elements in any order.
TEST(StandinExtents, AreAsLargeAsTheyCanBe) {
  par::standin::Extents extents;
  EXPECT_TRUE(extents.merged().empty());
  for (uint64_t begin : {64, 68, 60, 100, 80, 84, 68, 76, 72, 104})
    extents.add(begin, begin + 4);
  using Extent = par::standin::Extents::Extent;
  EXPECT_EQ(extents.merged(), (std::vector<Extent>{{60, 88}, {100, 108}}));
}

TEST_F(StandinWorks, KernelsCopiesAndFillsComputeInTheOrderOfEvents) {
  for (int seed = 0; seed < 8; ++seed) {
    destroy();
    environment.set("PAR_STANDIN_SEED", std::to_string(seed));
    restart();
    make();
    step();
    EXPECT_EQ(read(at(0)), 12);
  }
}

TEST_F(StandinWorks, NothingIsDoneBeforeTheHostWaits) {
  fill(one, at(0), 3);
  host[0] = 1;
  check(cu.cuMemcpyAsync(address(host), at(0), 4, one));
  EXPECT_EQ(host[0], 1);
  EXPECT_EQ(read(at(0)), 3);
}

/// What the host has waited for is before all that it enqueues then.
TEST_F(StandinWorks, TheHostOrdersWhatItWaitedFor) {
  fill(one, at(0), 3);
  check(cu.cuStreamSynchronize(one));
  check(launch(two, at(0), at(512)));
  check(cu.cuEventRecord(first, two));
  check(cu.cuEventSynchronize(first));
  check(launch(one, at(512), at(0)));
  EXPECT_EQ(read(at(0)), 12);
}

TEST_F(StandinWorks, AGraphComputesWhatItsCaptureRecorded) {
  check(cu.cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  step();
  int status = 0;
  check(cu.cuStreamIsCapturing(two, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  check(cu.cuStreamEndCapture(one, &graph));
  size_t nodes = 0;
  check(cu.cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 3u); // events are edges
  check(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  check(cu.cuGraphDestroy(graph));
  for (int launches = 0; launches < 3; ++launches)
    check(cu.cuGraphLaunch(exec, one)); // one after the other, though nothing else orders them
  EXPECT_EQ(read(at(0)), 12);
  check(cu.cuGraphExecDestroy(exec));
}

TEST_F(StandinWorks, FunctionsOfTheHostAreCalledInTheirOrder) {
  fill(one, at(0), 3);
  check(cu.cuMemcpyAsync(address(host), at(0), 4, one));
  check(cu.cuLaunchHostFunc(
      one, [](void *value) { *static_cast<float *>(value) += 1; }, host));
  check(cu.cuStreamSynchronize(one));
  EXPECT_EQ(host[0], 4);
}

TEST_F(StandinWorks, AWordIsWrittenWhenItsTurnComes) {
  auto *word = reinterpret_cast<uint32_t *>(host);
  *word = 0;
  check(cu.cuStreamWriteValue32_v2(one, address(word), 7, CU_STREAM_WRITE_VALUE_DEFAULT));
  EXPECT_EQ(*word, 0u);
  check(cu.cuStreamSynchronize(one));
  EXPECT_EQ(*word, 7u);
}

TEST_F(StandinWorks, EventsTellTheTime) {
  CUevent begin = nullptr, end = nullptr;
  check(cu.cuEventCreate(&begin, 0));
  check(cu.cuEventCreate(&end, 0));
  check(cu.cuEventRecord(begin, one));
  fill(one, at(0), 3);
  check(cu.cuEventRecord(end, one));
  while (cu.cuEventQuery(end) == CUDA_ERROR_NOT_READY)
    ;
  float milliseconds = -1;
  check(cu.cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cu.cuEventElapsedTime(&milliseconds, begin, first), CUDA_ERROR_INVALID_HANDLE); // keeps no time
  check(cu.cuEventDestroy_v2(begin));
  check(cu.cuEventDestroy_v2(end));
}

TEST_F(StandinWorks, EventsOfAGraphTellTheTimeOfEachLaunch) {
  CUevent begin = nullptr, end = nullptr, between = nullptr;
  for (CUevent *event : {&begin, &end, &between})
    check(cu.cuEventCreate(event, 0));
  check(cu.cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  check(cu.cuEventRecordWithFlags(begin, one, CU_EVENT_RECORD_EXTERNAL));
  fill(one, at(0), 3);
  check(cu.cuEventRecordWithFlags(end, one, CU_EVENT_RECORD_EXTERNAL));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  check(cu.cuStreamEndCapture(one, &graph));
  check(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  float milliseconds = -1;
  EXPECT_EQ(cu.cuEventElapsedTime(&milliseconds, begin, end), CUDA_ERROR_NOT_READY);
  for (int launch = 0; launch < 2; ++launch) {
    check(cu.cuEventRecord(between, one));
    check(cu.cuGraphLaunch(exec, one));
    check(cu.cuStreamSynchronize(one));
    for (CUevent event : {begin, end}) {
      check(cu.cuEventElapsedTime(&milliseconds, between, event));
      EXPECT_GE(milliseconds, 0) << "launch " << launch; // behind what was recorded before the launch
    }
  }
  check(cu.cuGraphExecDestroy(exec));
  check(cu.cuGraphDestroy(graph));
  for (CUevent event : {begin, end, between})
    check(cu.cuEventDestroy_v2(event));
}

TEST_F(StandinWorks, RankThreadsShareADevice) {
  auto rank = [&](CUstream stream, size_t offset, float value) {
    CUcontext context = nullptr;
    check(cu.cuDevicePrimaryCtxRetain(&context, 0));
    check(cu.cuCtxSetCurrent(context));
    for (int times = 0; times < 20; ++times) {
      fill(stream, at(offset), value);
      check(launch(stream, at(offset), at(offset + 256)));
      check(cu.cuStreamSynchronize(stream));
    }
  };
  std::thread other(rank, two, 1024, 5.f);
  rank(one, 0, 3);
  other.join();
  EXPECT_EQ(read(at(256)), 6);
  EXPECT_EQ(read(at(1280)), 10);
}

TEST_F(StandinWorks, MemoryHasAnEnd) {
  destroy();
  environment.set("PAR_STANDIN_MEMORY", "1048576");
  restart();
  make();
  size_t free = 0, total = 0;
  check(cu.cuMemGetInfo_v2(&free, &total));
  EXPECT_EQ(total, 1048576u);
  EXPECT_EQ(free, total - bytes);
  CUdeviceptr more = 0;
  EXPECT_EQ(cu.cuMemAlloc_v2(&more, free + 1), CUDA_ERROR_OUT_OF_MEMORY);
  check(cu.cuMemAlloc_v2(&more, free));
  check(cu.cuMemFree_v2(more));
}

TEST_F(StandinWorks, DevicesAreAsManyAsWanted) {
  environment.set("PAR_STANDIN_DEVICES", "3");
  destroy();
  restart();
  make();
  int count = 0, chip = 0;
  check(cu.cuDeviceGetCount(&count));
  EXPECT_EQ(count, 3);
  CUdevice device = 0;
  check(cu.cuDeviceGet(&device, 2));
  EXPECT_EQ(cu.cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
  check(cu.cuDeviceGetAttribute(&chip, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 2));
  EXPECT_EQ(chip, 9);
}

TEST_F(StandinWorks, ModulesAreForAChipAndADriver) {
  auto load = [&](const char *text, std::string &log) {
    char buffer[256] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {buffer, reinterpret_cast<void *>(sizeof(buffer))};
    CUmodule other = nullptr;
    CUresult result = cu.cuModuleLoadDataEx(&other, text, 2, options, values);
    log = buffer;
    return result;
  };
  std::string log;
  EXPECT_EQ(load(".version 8.8\n.target sm_90\n.visible .entry k() { ret; }", log),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(load(".version 8.0\n.target sm_100\n.visible .entry k() { ret; }", log),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(load(".version 8.0\n.target sm_89a\n.visible .entry k() { ret; }", log),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(load("no text", log), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(log, "the text has no .version");
  CUfunction none = nullptr;
  EXPECT_EQ(cu.cuModuleGetFunction(&none, module, "thrice"), CUDA_ERROR_NOT_FOUND);
}

} // namespace
