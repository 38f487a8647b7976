/// Which processes hold memory of a GPU.
#ifndef PAR_CUDA_HOLDERS_H
#define PAR_CUDA_HOLDERS_H

#include <string>

namespace par::cuda {

using nvmlReturn_t = int;
using nvmlDevice_t = struct nvmlDevice_st *;

/// As NVIDIA's nvml.h has it.
struct nvmlProcessInfo_t {
  unsigned pid;
  unsigned long long usedGpuMemory; ///< all ones: not known
  unsigned gpuInstanceId, computeInstanceId;
};

/// "process 4711 holds 1073741824 bytes, process 12 holds ...", the largest first, without this one; empty
/// where nobody does or nobody knows. `id`: of the GPU (Gpu.h).
std::string holdersOf(const std::string &id);

} // namespace par::cuda
#endif
