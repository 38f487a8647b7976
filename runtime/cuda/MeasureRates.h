/// What a GPU reaches: the roofs of --profile.
#ifndef PAR_CUDA_MEASURERATES_H
#define PAR_CUDA_MEASURERATES_H

#include "cuda/CudaQueue.h"
#include "cuda/CudaWork.h"
#include "device/Device.h"

namespace par::cuda {

/// A large copy within the GPU, and a large square product of cuBLASLt with operands of `type`, each as large
/// as its memory and some milliseconds allow, the best of a few. Before programs run: memory is taken and
/// given back.
io::Status measureRates(device::Device &device, const Driver &driver, CudaQueue &queue, ProductType type,
                        device::Rates &rates);

} // namespace par::cuda
#endif
