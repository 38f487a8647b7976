/// Sums, maxima and minima of several buffers: what collectives of ranks on one GPU compute.
#ifndef PAR_CUDA_COMBINE_H
#define PAR_CUDA_COMBINE_H

#include "cuda/CudaQueue.h"
#include "cuda/Kernels.h"
#include "device/Accelerator.h"

#include <map>

namespace par::cuda {

class Combiner {
public:
  explicit Combiner(const Driver &driver) : driver(driver), module(driver) {}
  ~Combiner();

  /// Loads the kernels, and takes room for sums of so many elements.
  io::Status reserve(int64_t elements);

  /// See device::Accelerator.
  io::Status combine(CudaQueue &queue, device::Combination how, device::Element type,
                     const device::Address *sources, size_t sourceCount, const device::Address *targets,
                     size_t targetCount, int64_t elements);

private:
  io::Status launch(CudaQueue &queue, const std::string &kernel, CUdeviceptr to, CUdeviceptr from,
                    int64_t elements);
  io::Status load();

  const Driver &driver;
  Module module;
  std::map<std::string, CUfunction> kernels; ///< empty: not loaded
  CUdeviceptr sum = 0;
  int64_t room = 0; ///< elements of 8 bytes
};

} // namespace par::cuda
#endif
