/// What makers say that their GPUs compute.
#ifndef PAR_CUDA_GPUPEAKS_H
#define PAR_CUDA_GPUPEAKS_H

#include <string>

namespace par::cuda {

/// Operations per second of dense products, f32 without TF32, bf16 summed in f32. 0 of a type that it has
/// not.
struct GpuPeaks {
  double f32 = 0, bf16 = 0;
};

/// Of a GPU by the name that its driver gives it ("NVIDIA H100 80GB HBM3"); zeros where it is not in the
/// table.
GpuPeaks peaksOf(const std::string &product);

} // namespace par::cuda
#endif
