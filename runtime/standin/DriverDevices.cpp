#include "standin/Exports.h"

#include <cstdio>
#include <cstring>

namespace par::cuda {
struct CUctx_st {
  int device;
};
} // namespace par::cuda

namespace par::standin {

int &currentDevice() {
  static thread_local int device = -1;
  return device;
}

namespace {
/// Counts a thread for as long as it lives, or until the state is reset.
struct CountedThread {
  uint64_t generation = 0;
  void enter() {
    if (generation == stateGeneration())
      return;
    generation = stateGeneration();
    state().executor.enterThread();
  }
  ~CountedThread() {
    Lock lock(stateMutex());
    if (generation == stateGeneration())
      state().executor.leaveThread();
  }
};

struct ErrorName {
  cuda::CUresult result;
  const char *name, *text;
};
} // namespace

static const ErrorName *findError(cuda::CUresult result) {
  using namespace cuda;
#define PAR_ERROR(name, text) {name, #name, text},
  static const ErrorName names[] = {
      PAR_ERROR(CUDA_SUCCESS, "no error") PAR_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument") PAR_ERROR(
          CUDA_ERROR_OUT_OF_MEMORY, "out of memory") PAR_ERROR(CUDA_ERROR_NO_DEVICE,
                                                               "no CUDA-capable device is detected")
          PAR_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal") PAR_ERROR(
              CUDA_ERROR_INVALID_CONTEXT,
              "invalid device context") PAR_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU,
                                                  "no kernel image is available for execution on the device")
              PAR_ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed") PAR_ERROR(
                  CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                  "the provided PTX was compiled with an unsupported "
                  "toolchain.") PAR_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")
                  PAR_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found") PAR_ERROR(
                      CUDA_ERROR_NOT_READY,
                      "device not ready") PAR_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS,
                                                    "an illegal memory access was encountered")
                      PAR_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch")
                          PAR_ERROR(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated")
                              PAR_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure") PAR_ERROR(
                                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                  "operation not permitted when stream is capturing")
                                  PAR_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                                            "operation failed due to a previous error during capture")
                                      PAR_ERROR(
                                          CUDA_ERROR_STREAM_CAPTURE_MERGE,
                                          "operation would result in a merge of separate capture sequences")
                                          PAR_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                                                    "capture was not ended in the same stream as it began")
                                              PAR_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                                                        "capturing stream has unjoined work")
                                                  PAR_ERROR(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                                                            "dependency created on uncaptured work in "
                                                            "another stream")
                                                      PAR_ERROR(CUDA_ERROR_CAPTURED_EVENT,
                                                                "operation not permitted on an event last "
                                                                "recorded in a capturing stream")
                                                          PAR_ERROR(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                                                                    "attempt to terminate a capture from "
                                                                    "another thread")};
#undef PAR_ERROR
  for (const ErrorName &one : names)
    if (one.result == result)
      return &one;
  return nullptr;
}

} // namespace par::standin

namespace par::cuda {

using namespace standin;

CUresult cuInit(unsigned) {
  Lock lock(stateMutex());
  return state().settings.devices > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuDriverGetVersion(int *version) {
  Lock lock(stateMutex());
  *version = state().settings.driver;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name) {
  const ErrorName *found = findError(result);
  *name = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text) {
  const ErrorName *found = findError(result);
  *text = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count) {
  Lock lock(stateMutex());
  *count = state().settings.devices;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int number) {
  Lock lock(stateMutex());
  *device = number;
  return number >= 0 && number < state().settings.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  Lock lock(stateMutex());
  std::strncpy(name, state().settings.name.c_str(), size_t(length));
  return CUDA_SUCCESS;
}

/// The same in all processes: they stand in for the same devices.
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  std::memset(uuid, 0, sizeof(*uuid));
  std::snprintf(uuid->bytes, sizeof(uuid->bytes), "stand-in %d", device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  Lock lock(stateMutex());
  int chip = state().settings.chip;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    *value = chip / 10;
  else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
    *value = chip % 10;
  else if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    *value = state().settings.processors;
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  static CUctx_st contexts[64];
  Lock lock(stateMutex());
  if (device < 0 || device >= 64)
    return CUDA_ERROR_INVALID_DEVICE;
  contexts[device].device = device;
  *context = &contexts[device];
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }

CUresult cuCtxSetCurrent(CUcontext context) {
  static thread_local CountedThread thread;
  Lock lock(stateMutex());
  currentDevice() = context ? context->device : -1;
  if (context)
    thread.enter();
  return CUDA_SUCCESS;
}

} // namespace par::cuda
