#include "cuda/Driver.h"

namespace par::cuda {

LibraryName driverName() {
  return {{"libcuda.so.1"}, "the driver of CUDA 12.0", "NVIDIA's driver (Debian: nvidia-driver, libcuda1)"};
}

io::Status openDriver(const LibraryName &library, Driver &driver) {
  std::vector<Symbol> symbols = {
#define PAR_CUDA_FUNCTION(name, ...) {#name, reinterpret_cast<void **>(&driver.name)},
#include "cuda/CudaFunctions.def"
  };
  return openLibrary(library, symbols);
}

/// After these a process cannot use its GPU any more.
static bool isFatal(CUresult result) {
  constexpr CUresult uncorrectable = 214, firstOfKernels = 714, lastOfKernels = 719;
  return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT ||
         result == uncorrectable || (result >= firstOfKernels && result <= lastOfKernels);
}

io::Status Driver::status(const char *function, CUresult result) const {
  if (result == CUDA_SUCCESS)
    return {};
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    return io::Status::error(std::string(function) + ": error " + std::to_string(result) + " of CUDA");
  bool known = cuGetErrorString(result, &text) == CUDA_SUCCESS && text;
  return io::Status::error(
      std::string(function) + ": " + (known ? text : "fails") + " (" + name + ")" +
      (isFatal(result) ? "; see whether the system's log (dmesg) has an Xid for it, and start again" : ""));
}

static io::Status start(Driver &driver) {
  PAR_TRY(openDriver(driverName(), driver));
  CUresult result = driver.cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE)
    return io::Status::error(
        "a package for CUDA needs a GPU: libcuda.so.1 finds none; see that nvidia-smi lists "
        "one and CUDA_VISIBLE_DEVICES is not empty, or compile with --target cpu");
  return driver.status("cuInit", result);
}

io::Status loadDriver(const Driver *&driver) {
  static Driver loaded;
  static const io::Status status = start(loaded);
  driver = &loaded;
  return status;
}

} // namespace par::cuda
