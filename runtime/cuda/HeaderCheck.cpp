// On a machine with NVIDIA's headers: what is declared here is what they say. Elsewhere this file is empty.
#if __has_include(<cuda.h>)
#include "cuda/CudaTypes.h"

// Before the headers, which have macros of the same names.
namespace par::cuda {
#define PAR_CUDA_FUNCTION(name, ...) using type_of_##name = void(__VA_ARGS__);
#include "cuda/CudaFunctions.def"
} // namespace par::cuda

#include "cuda/SameSignature.h"

#include <cuda.h>

namespace par::cuda {

#define PAR_CUDA_FUNCTION(name, ...)                                                                         \
  static_assert(passedAlike<type_of_##name, decltype(::name)>, #name " is declared otherwise in cuda.h");
#include "cuda/CudaFunctions.def"

#define PAR_SAME(name) static_assert(int(name) == int(::name), #name " is another number in cuda.h");
PAR_SAME(CUDA_ERROR_OUT_OF_MEMORY)
PAR_SAME(CUDA_ERROR_NO_DEVICE)
PAR_SAME(CUDA_ERROR_NO_BINARY_FOR_GPU)
PAR_SAME(CUDA_ERROR_INVALID_PTX)
PAR_SAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
PAR_SAME(CUDA_ERROR_NOT_FOUND)
PAR_SAME(CUDA_ERROR_NOT_READY)
PAR_SAME(CUDA_ERROR_ILLEGAL_ADDRESS)
PAR_SAME(CUDA_ERROR_LAUNCH_TIMEOUT)
PAR_SAME(CUDA_ERROR_LAUNCH_FAILED)
PAR_SAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
PAR_SAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
PAR_SAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
PAR_SAME(CUDA_ERROR_CAPTURED_EVENT)
PAR_SAME(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
PAR_SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
PAR_SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
PAR_SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
PAR_SAME(CU_JIT_ERROR_LOG_BUFFER)
PAR_SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
PAR_SAME(CU_STREAM_NON_BLOCKING)
PAR_SAME(CU_EVENT_BLOCKING_SYNC)
PAR_SAME(CU_EVENT_DISABLE_TIMING)
PAR_SAME(CU_EVENT_RECORD_EXTERNAL)
PAR_SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
PAR_SAME(CU_STREAM_CAPTURE_MODE_RELAXED)
PAR_SAME(CU_STREAM_CAPTURE_STATUS_ACTIVE)

} // namespace par::cuda
#endif
