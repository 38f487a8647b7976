/// The functions that this library has of the driver's: prototypes of all that the runtime calls.
#ifndef PAR_STANDIN_EXPORTS_H
#define PAR_STANDIN_EXPORTS_H

#include "standin/State.h"

#define PAR_STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace par::cuda {
#define PAR_CUDA_FUNCTION(name, ...) PAR_STANDIN_EXPORT CUresult name(__VA_ARGS__);
#include "cuda/CudaFunctions.def"
} // namespace par::cuda

namespace par::standin {

/// The device of the calling thread's context; -1: it has none.
int &currentDevice();

} // namespace par::standin

/// Returns an error from the calling function.
#define PAR_STANDIN_TRY(call)                                                                                \
  do {                                                                                                       \
    if (::par::cuda::CUresult result = (call))                                                               \
      return result;                                                                                         \
  } while (false)

#endif
