/// Sums, maxima and minima of several buffers: what collectives of ranks on one GPU compute.
#ifndef PAR_CUDA_COMBINE_H
#define PAR_CUDA_COMBINE_H

#include "cuda/CudaQueue.h"
#include "cuda/Kernels.h"
#include "device/Accelerator.h"

#include <algorithm>
#include <map>
#include <vector>

namespace par::cuda {

class Combiner {
public:
  explicit Combiner(const Driver &driver) : driver(driver), module(driver) {}

  /// Bytes for sums of so many elements. More than this many are summed a slice at a time.
  static int64_t roomOf(int64_t elements) { return bytesEach * std::min(elements, int64_t(1) << 22); }
  /// Loads the kernels; from now on sums are made in so many bytes of memory.
  io::Status use(CUdeviceptr memory, int64_t bytes);

  /// See device::Accelerator.
  io::Status combine(CudaQueue &queue, device::Combination how, device::Element type,
                     const device::Address *sources, size_t sourceCount, const device::Address *targets,
                     size_t targetCount, int64_t elements);

private:
  static constexpr int64_t bytesEach = 8; ///< of the largest type
  /// Of no more elements than there is room for.
  io::Status combineSlice(CudaQueue &queue, device::Combination how, device::Element type,
                          const std::vector<device::Address> &sources,
                          const std::vector<device::Address> &targets, int64_t elements);
  io::Status launch(CudaQueue &queue, const std::string &kernel, CUdeviceptr to, CUdeviceptr from,
                    int64_t elements);
  io::Status load();

  const Driver &driver;
  Module module;
  std::map<std::string, CUfunction> kernels; ///< empty: not loaded
  CUdeviceptr sum = 0;
  int64_t room = 0; ///< elements
};

} // namespace par::cuda
#endif
