#include "cuda/Timing.h"

#include "cuda/Stamps.h"

#include <algorithm>
#include <random>
#include <vector>

namespace par::cuda {

io::Status timeBest(const Driver &driver, CudaQueue &queue, int repetitions,
                    const std::function<io::Status()> &enqueue, double &best) {
  Stamps stamps(driver);
  best = 0;
  for (int i = 0; i < repetitions; ++i) {
    PAR_TRY(stamps.stamp(queue.stream(), 0));
    PAR_TRY(enqueue());
    PAR_TRY(stamps.stamp(queue.stream(), 1));
    PAR_CUDA(driver, cuStreamSynchronize, queue.stream());
    double seconds = 0;
    PAR_TRY(stamps.elapsed(0, 1, seconds));
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return {};
}

/// A megabyte by the host; the device copies it.
io::Status fillRandom(const Driver &driver, device::Device &device, CudaQueue &queue, device::Address begin,
                      size_t bytes) {
  std::vector<uint16_t> values(std::min<size_t>(bytes, size_t(1) << 20) / 2);
  std::minstd_rand random(1);
  for (uint16_t &value : values)
    value = uint16_t(0x3F00 + random() % 0x100); // of bf16, and the upper half of f32
  device.write(begin, values.data(), 2 * values.size());
  for (size_t done = 2 * values.size(); done < bytes; done *= 2)
    PAR_CUDA(driver, cuMemcpyAsync, (begin + int64_t(done)).value, begin.value, std::min(done, bytes - done),
             queue.stream());
  return {};
}

} // namespace par::cuda
