/// Two streams, memory of a device and of the host, and a kernel, for tests that call the driver themselves.
#ifndef PAR_TEST_CUDA_DRIVERTEST_H
#define PAR_TEST_CUDA_DRIVERTEST_H

#include "Standin.h"
#include "TestKernels.h"

namespace par::test {

using namespace cuda;

class DriverTest : public Standin {
protected:
  static constexpr size_t bytes = 4096, floats = 64;

  void SetUp() override { make(); }
  void TearDown() override { destroy(); }

  void make() {
    give("twice", twice);
    check(cu.cuMemAlloc_v2(&memory, bytes));
    void *pinned = nullptr;
    check(cu.cuMemHostAlloc(&pinned, bytes, CU_MEMHOSTALLOC_PORTABLE));
    host = static_cast<float *>(pinned);
    for (CUstream *stream : {&one, &two})
      check(cu.cuStreamCreateWithPriority(stream, CU_STREAM_NON_BLOCKING, 0));
    for (CUevent *event : {&first, &second})
      check(cu.cuEventCreate(event, CU_EVENT_DISABLE_TIMING));
    check(cu.cuModuleLoadDataEx(&module, testModule, 0, nullptr, nullptr));
    check(cu.cuModuleGetFunction(&kernel, module, "twice"));
  }
  void destroy() {
    cu.cuModuleUnload(module);
    for (CUevent event : {first, second})
      cu.cuEventDestroy_v2(event);
    for (CUstream stream : {one, two})
      cu.cuStreamDestroy_v2(stream);
    cu.cuMemFreeHost(host);
    cu.cuMemFree_v2(memory);
  }

  static void check(CUresult result) { ASSERT_EQ(result, CUDA_SUCCESS); }
  CUdeviceptr at(size_t offset) const { return memory + offset; }
  static CUdeviceptr address(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

  CUresult launch(CUstream stream, CUdeviceptr in, CUdeviceptr out, unsigned threads = floats) {
    void *parameters[] = {&in, &out};
    return cu.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
  }
  /// Enqueues a fill with a float.
  void fill(CUstream stream, CUdeviceptr to, float value) {
    uint32_t word;
    std::memcpy(&word, &value, 4);
    check(cu.cuMemsetD32Async(to, word, floats, stream));
  }
  void order(CUstream before, CUevent event, CUstream behind) {
    check(cu.cuEventRecord(event, before));
    check(cu.cuStreamWaitEvent(behind, event, 0));
  }
  float read(CUdeviceptr from) {
    check(cu.cuMemcpyAsync(address(host), from, 4 * floats, one));
    EXPECT_EQ(cu.cuStreamSynchronize(one), CUDA_SUCCESS);
    return host[floats - 1];
  }

  CUdeviceptr memory = 0;
  float *host = nullptr;
  CUstream one = nullptr, two = nullptr;
  CUevent first = nullptr, second = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
};

} // namespace par::test
#endif
