/// NVIDIA's driver: the table of its functions, and what its results mean.
#ifndef PAR_CUDA_DRIVER_H
#define PAR_CUDA_DRIVER_H

#include "cuda/CudaTypes.h"
#include "cuda/Library.h"

namespace par::cuda {

struct Driver {
#define PAR_CUDA_FUNCTION(name, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
#include "cuda/CudaFunctions.def"

  /// Empty for a success; else "cuMemAlloc_v2: out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  io::Status status(const char *function, CUresult result) const;
};

/// The driver's own name, and what is to be installed where it is missing.
LibraryName driverName();

/// Opens the driver and finds its functions, from whatever library has them.
io::Status openDriver(const LibraryName &library, Driver &driver);

/// Opens libcuda.so.1 and starts it, once; the same answer ever after. From any thread.
io::Status loadDriver(const Driver *&driver);

} // namespace par::cuda

/// Calls a function of a driver; returns a Status that names it from the calling function where it fails.
#define PAR_CUDA(driver, function, ...) PAR_TRY((driver).status(#function, (driver).function(__VA_ARGS__)))

#endif
