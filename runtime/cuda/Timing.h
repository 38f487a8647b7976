/// How long a GPU takes, and numbers for it to work on meanwhile.
#ifndef PAR_CUDA_TIMING_H
#define PAR_CUDA_TIMING_H

#include "cuda/CudaQueue.h"
#include "device/Device.h"

#include <functional>

namespace par::cuda {

/// The least seconds, by events, of `repetitions` runs of what is enqueued, once it has ended.
io::Status timeBest(const Driver &driver, CudaQueue &queue, int repetitions,
                    const std::function<io::Status()> &enqueue, double &best);

/// Numbers of bf16 around 1, which are such numbers in f32, too: what is always zero takes less power than
/// what is computed with.
io::Status fillRandom(const Driver &driver, device::Device &device, CudaQueue &queue, device::Address begin,
                      size_t bytes);

} // namespace par::cuda
#endif
