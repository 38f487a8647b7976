// Faults of whoever calls the driver, one planted in each test, and what the stand-in says of it.
#include "DriverTest.h"
#include "device/FillWords.h"

using namespace par::test;

namespace {

class StandinFinds : public DriverTest {
protected:
  /// The findings have this line; taken with all others.
  void expect(const std::string &line) {
    std::string found = findings();
    EXPECT_NE(("\n" + found).find("\n" + line + "\n"), std::string::npos) << "found:\n" << found;
  }
  void finish() {
    for (CUstream stream : {one, two})
      cu.cuStreamSynchronize(stream);
  }
  void again(const char *variable, const char *value) {
    destroy();
    environment.set(variable, value);
    restart();
    make();
  }
  CUresult capture(const std::function<void()> &work) {
    check(cu.cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    work();
    CUgraph graph = nullptr;
    CUresult result = cu.cuStreamEndCapture(one, &graph);
    if (graph)
      cu.cuGraphDestroy(graph);
    return result;
  }
};

/// Whichever runs first: the report is of the order that is missing, not of what came of it.
TEST_F(StandinFinds, AReadThatDoesNotWaitForTheWrite) {
  for (const char *seed : {"1", "2", "3", "4"}) {
    again("PAR_STANDIN_SEED", seed);
    fill(two, at(0), 1);
    check(cu.cuStreamSynchronize(two));
    check(launch(one, at(0), at(512)));
    check(cu.cuMemcpyAsync(at(1024), at(512), 256, two));
    finish();
    std::string found = findings();
    bool readSecond =
        found.find("race: copy of 256 bytes on stream 2 reads what kernel twice on stream 1 writes; no "
                   "event orders them\n") != std::string::npos;
    bool readFirst =
        found.find("race: kernel twice on stream 1 writes what copy of 256 bytes on stream 2 reads; no "
                   "event orders them\n") != std::string::npos;
    EXPECT_TRUE(readFirst || readSecond) << found;
  }
}

/// In some orders the write is first, in some the read.
TEST_F(StandinFinds, AWriteThatDoesNotWaitForTheRead) {
  int isFirst[2] = {};
  for (const char *seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    again("PAR_STANDIN_SEED", seed);
    fill(one, at(0), 1);
    order(one, first, two);
    check(cu.cuMemcpyAsync(at(512), at(0), 256, two));
    fill(one, at(0), 2);
    finish();
    std::string found = findings();
    EXPECT_EQ(found.find("race: "), 0u) << "seed " << seed << ": " << found;
    ++isFirst[found.find(
                  "race: fill of 256 bytes on stream 1 writes what copy of 256 bytes on stream 2 reads") ==
              0];
  }
  EXPECT_GT(isFirst[0], 0);
  EXPECT_GT(isFirst[1], 0);
}

TEST_F(StandinFinds, TwoWritesWithoutAnOrder) {
  fill(one, at(0), 1);
  fill(two, at(252), 2); // one float of both
  finish();
  std::string found = findings();
  EXPECT_NE(found.find(" writes what fill of 256 bytes on stream "), std::string::npos) << found;
}

TEST_F(StandinFinds, AWaitForAnEventThatWasNeverRecorded) {
  check(cu.cuStreamWaitEvent(two, first, 0));
  expect("stream 2 waits for an event that was never recorded: nothing is waited for");
  check(cu.cuEventSynchronize(second));
  expect("the host waits for an event that was never recorded: nothing is waited for");
}

/// An event is what was recorded last when the wait is called.
TEST_F(StandinFinds, AnEventThatIsRecordedAfterTheWait) {
  check(cu.cuEventRecord(first, one));
  check(cu.cuStreamWaitEvent(two, first, 0));
  fill(one, at(0), 1);
  check(cu.cuEventRecord(first, one));
  check(cu.cuMemcpyAsync(at(512), at(0), 256, two));
  finish();
  EXPECT_NE(findings().find("race: "), std::string::npos);
}

TEST_F(StandinFinds, AnAddressOfTheHostGivenToAKernel) {
  static float local[floats];
  fill(one, at(0), 1);
  check(launch(one, at(0), address(local)));
  finish();
  std::string found = findings();
  EXPECT_EQ(found.find("twice: writes 4 bytes at 0x"), 0u) << found;
  EXPECT_NE(found.find(", an address of the host that is not pinned (store)\n"), std::string::npos) << found;
}

TEST_F(StandinFinds, PageableMemoryInACopy) {
  static float local[floats];
  EXPECT_EQ(cu.cuMemcpyAsync(at(0), address(local), 256, one), CUDA_ERROR_INVALID_VALUE);
  std::string found = findings();
  EXPECT_EQ(found.find("copy of 256 bytes on stream 1: from 256 bytes at 0x"), 0u) << found;
}

TEST_F(StandinFinds, MemoryOfTheDeviceGivenAsTheHosts) {
  CUdeviceptr none = 0;
  void *wrong = reinterpret_cast<void *>(at(0));
  EXPECT_EQ(cu.cuMemHostGetDevicePointer_v2(&none, wrong, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(findings().find(" + 0 is no memory of the host"), std::string::npos);
  EXPECT_EQ(cu.cuMemFreeHost(wrong), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(findings().find(" + 0 is not of this kind"), std::string::npos);
}

/// As with a GPU.
TEST_F(StandinFinds, TheHostThatTouchesTheDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(*reinterpret_cast<volatile char *>(at(0)) = 1, "");
}

TEST_F(StandinFinds, BytesThatNobodyWrote) {
  check(launch(one, at(0), at(512)));
  finish();
  expect("twice: reads bytes that nobody wrote (load)");
  check(cu.cuMemcpyAsync(at(2048), at(1024), 64, one));
  finish();
  EXPECT_NE(findings().find("copy of 64 bytes on stream 1: from bytes that nobody wrote, at device memory "),
            std::string::npos);
}

/// The runtime's paint and poison say that bytes mean nothing, and copies take that along.
TEST_F(StandinFinds, BytesThatWereOnlyPainted) {
  for (uint32_t word : {par::device::paintWord, par::device::poisonWord}) {
    again("PAR_STANDIN_SEED", "1");
    check(cu.cuMemsetD32Async(at(0), word, floats, one));
    check(cu.cuMemcpyAsync(at(1024), at(0), 4 * floats, one));
    finish();
    EXPECT_EQ(findings(), "");
    check(launch(one, at(1024), at(512)));
    finish();
    expect("twice: reads bytes that nobody wrote (load)");
  }
}

TEST_F(StandinFinds, BytesBehindTheEnd) {
  check(cu.cuMemsetD8Async(at(0), 0, bytes, one));
  check(launch(one, at(0), at(bytes - 128)));
  finish();
  EXPECT_NE(
      findings().find("twice: writes 4 bytes at device memory 1 + 4096, which has 4096 bytes (store)\n"),
      std::string::npos);
  check(cu.cuMemsetD8Async(at(4000), 0, 97, one));
  EXPECT_EQ(cu.cuStreamSynchronize(one), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(findings().find(
                "fill of 97 bytes on stream 1: to 97 bytes at device memory 1 + 4000, which has 4096 bytes"),
            std::string::npos);
  EXPECT_EQ(launch(one, at(0), at(0)), CUDA_ERROR_ILLEGAL_ADDRESS); // as all calls from then on
}

TEST_F(StandinFinds, MemoryThatWasFreed) {
  CUdeviceptr gone = 0;
  check(cu.cuMemAlloc_v2(&gone, 256));
  check(cu.cuMemFree_v2(gone));
  EXPECT_EQ(cu.cuMemcpyAsync(gone, at(0), 256, one), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(findings().find(", which was freed\n"), std::string::npos);
  EXPECT_EQ(cu.cuMemFree_v2(gone), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(findings().find("cuMemFree: "), std::string::npos);
}

TEST_F(StandinFinds, AllocationInACapture) {
  CUdeviceptr none = 0;
  EXPECT_EQ(capture([&] { EXPECT_EQ(cu.cuMemAlloc_v2(&none, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect("cuMemAlloc while stream 1 is captured");
}

TEST_F(StandinFinds, SynchronisationInACapture) {
  EXPECT_EQ(capture([&] { EXPECT_NE(cu.cuStreamSynchronize(one), CUDA_SUCCESS); }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect("cuStreamSynchronize on stream 1, which is captured");
  EXPECT_EQ(capture([&] { EXPECT_NE(cu.cuStreamSynchronize(two), CUDA_SUCCESS); }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect("cuStreamSynchronize while stream 1 is captured");
  EXPECT_EQ(capture([&] {
              check(cu.cuEventRecord(first, one));
              EXPECT_EQ(cu.cuEventQuery(first), CUDA_ERROR_CAPTURED_EVENT);
            }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect("cuEventQuery of an event that was recorded in a capture");
}

TEST_F(StandinFinds, ACaptureThatIsNotJoined) {
  EXPECT_EQ(capture([&] {
              fill(one, at(0), 1);
              order(one, first, two);
              fill(two, at(0), 2);
            }),
            CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  expect("a capture ends while fill of 256 bytes on stream 2 is not waited for");
}

TEST_F(StandinFinds, ACaptureThatWaitsForWhatIsOutside) {
  check(cu.cuEventRecord(first, two));
  EXPECT_EQ(
      capture([&] { EXPECT_EQ(cu.cuStreamWaitEvent(one, first, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION); }),
      CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect("stream 1 is captured and waits for an event from outside");
}

TEST_F(StandinFinds, AnEventOfACaptureThatHasEnded) {
  check(capture([&] { check(cu.cuEventRecord(first, one)); }));
  EXPECT_EQ(cu.cuStreamWaitEvent(two, first, 0), CUDA_ERROR_CAPTURED_EVENT);
  expect("stream 2 waits for an event of a capture that has ended");
}

TEST_F(StandinFinds, AnEventForAGraphOutsideOfACapture) {
  EXPECT_EQ(cu.cuEventRecordWithFlags(first, one, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
  expect(
      "cuEventRecordWithFlags: an event is recorded for outside of a capture, but stream 1 is not captured");
}

TEST_F(StandinFinds, TheTimeOfAnEventOfACapture) {
  CUevent begin = nullptr;
  check(cu.cuEventCreate(&begin, 0));
  check(capture([&] { check(cu.cuEventRecord(begin, one)); }));
  float milliseconds = 0;
  EXPECT_EQ(cu.cuEventElapsedTime(&milliseconds, begin, begin), CUDA_ERROR_CAPTURED_EVENT);
  expect("cuEventElapsedTime of an event that was recorded in a capture");
  check(cu.cuEventDestroy_v2(begin));
}

TEST_F(StandinFinds, BranchesOfAGraphWithoutAnOrder) {
  check(cu.cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  order(one, first, two);
  fill(one, at(0), 1);
  fill(two, at(0), 2);
  order(two, second, one);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  check(cu.cuStreamEndCapture(one, &graph));
  check(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  check(cu.cuGraphLaunch(exec, one));
  finish();
  EXPECT_NE(findings().find("race: "), std::string::npos);
  check(cu.cuGraphExecDestroy(exec));
  check(cu.cuGraphDestroy(graph));
}

TEST_F(StandinFinds, AGraphThatAnotherStreamDoesNotWaitFor) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  check(cu.cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  fill(one, at(0), 1);
  check(cu.cuStreamEndCapture(one, &graph));
  check(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  check(cu.cuGraphLaunch(exec, one));
  check(cu.cuMemcpyAsync(at(512), at(0), 256, two));
  finish();
  std::string found = findings();
  EXPECT_NE(found.find("race: "), std::string::npos) << found;
  check(cu.cuGraphExecDestroy(exec));
  check(cu.cuGraphDestroy(graph));
}

TEST_F(StandinFinds, TooManyThreads) {
  EXPECT_EQ(launch(one, at(0), at(512), 65), CUDA_ERROR_INVALID_VALUE);
  expect("twice: launched with 65 threads in a block, its text says 64 at most");
  EXPECT_EQ(launch(one, at(0), at(512), 0), CUDA_ERROR_INVALID_VALUE);
  expect("twice: launched with no thread");
}

TEST_F(StandinFinds, ALaunchWithoutParameters) {
  EXPECT_EQ(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, one, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect("twice: launched without its 2 parameters");
}

TEST_F(StandinFinds, MoreSharedMemoryThanAsked) {
  CUdeviceptr in = at(0);
  void *parameters[] = {&in, &in};
  auto with = [&](unsigned shared) {
    return cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, shared, one, parameters, nullptr);
  };
  fill(one, at(0), 1);
  check(with(48 << 10));
  EXPECT_EQ(with((48 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
  expect("twice: launched with 49153 bytes of shared memory, allowed are 49152");
  check(cu.cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
  check(with(64 << 10));
}

TEST_F(StandinFinds, TheDefaultStream) {
  EXPECT_EQ(cu.cuMemsetD8Async(at(0), 0, 4, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect("cuMemsetD8Async on the default stream, which waits for all others");
}

TEST_F(StandinFinds, AKernelThatNobodyEmulates) {
  CUmodule other = nullptr;
  CUfunction function = nullptr;
  check(cu.cuModuleLoadDataEx(&other, ".version 8.0\n.target sm_80\n.visible .entry unknown() { ret; }", 0,
                              nullptr, nullptr));
  EXPECT_EQ(cu.cuModuleGetFunction(&function, other, "unknown"), CUDA_ERROR_NOT_FOUND);
  expect("unknown: nobody emulates it");
  check(cu.cuModuleUnload(other));
}

TEST_F(StandinFinds, AnOperationThatDoesNotEnd) {
  again("PAR_STANDIN_FAULT", "stall@2");
  fill(one, at(0), 1);
  fill(one, at(0), 2);
  fill(one, at(0), 3);
  EXPECT_EQ(cu.cuStreamSynchronize(one), CUDA_ERROR_LAUNCH_TIMEOUT);
  expect("deadlock: the host waits and nothing can run; stream 1 is at fill of 256 bytes on stream 1, which "
         "does not "
         "end");
}

TEST_F(StandinFinds, ALaunchThatFails) {
  again("PAR_STANDIN_FAULT", "launch@2");
  fill(one, at(0), 1);
  check(launch(one, at(0), at(512)));
  check(cu.cuStreamSynchronize(one));
  check(launch(one, at(0), at(512)));
  EXPECT_EQ(cu.cuStreamSynchronize(one), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(launch(one, at(0), at(512)), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(StandinFinds, SettingsThatItCannotRead) {
  again("PAR_STANDIN_FAULT", "stall");
  expect("PAR_STANDIN_FAULT is \"stall\", expected launch@N or stall@N");
  environment.set("PAR_STANDIN_FAULT", "");
  again("PAR_STANDIN_SEED", "x");
  expect("PAR_STANDIN_SEED is \"x\", expected a number");
  environment.set("PAR_STANDIN_SEED", ""); // it is read again when the test is over
}

} // namespace
