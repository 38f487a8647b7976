/// Which of cuBLASLt's ways to compute a product is the quickest, by events of the GPU.
#ifndef PAR_CUDA_PRODUCTTUNING_H
#define PAR_CUDA_PRODUCTTUNING_H

#include "cuda/CudaQueue.h"
#include "cuda/Products.h"
#include "device/Accelerator.h"

namespace par::cuda {

/// Device::tune.
io::Status tuneProducts(const Driver &driver, device::Device &device, CudaQueue &queue, Products &products,
                        const device::TuningRoom &room, std::vector<int> &ways);

/// Device::findFirstWays. Nothing is read or written at `begin`.
io::Status findFirstWays(device::Device &device, Products &products, device::Address begin,
                         std::vector<int> &ways);

} // namespace par::cuda
#endif
