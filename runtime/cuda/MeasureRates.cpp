#include "cuda/MeasureRates.h"

#include "cuda/Products.h"
#include "cuda/Timing.h"

#include <algorithm>

namespace par::cuda {

using device::Address;

/// Less than this is mostly the start of the work.
static constexpr double longEnough = 3e-3;
static constexpr int repetitions = 5;

static io::Status measureCopy(device::Device &device, const Driver &driver, CudaQueue &queue,
                              double &bytesPerSecond) {
  double seconds = 0;
  for (size_t bytes = size_t(1) << 20; bytes <= size_t(512) << 20 && seconds < longEnough; bytes *= 2) {
    device::Memory memory;
    if (!memory.allocate(device, device::Space::device, 2 * bytes))
      break;
    PAR_TRY(fillRandom(driver, device, queue, memory.begin(), bytes));
    Address from = memory.begin(), to = from + int64_t(bytes);
    auto copy = [&]() -> io::Status {
      PAR_CUDA(driver, cuMemcpyAsync, to.value, from.value, bytes, queue.stream());
      return {};
    };
    PAR_TRY(timeBest(driver, queue, repetitions, copy, seconds));
    bytesPerSecond = 2 * double(bytes) / seconds;
  }
  return {};
}

static ProductWork squareProduct(int64_t n, ProductType type) {
  ProductWork work{};
  work.m = work.n = work.k = work.lda = work.ldb = work.ldc = n;
  work.batch = work.strideA = work.strideB = work.strideC = 1;
  work.type = work.result = type;
  work.beta = Beta::none;
  return work;
}

static io::Status measureProduct(device::Device &device, const Driver &driver, CudaQueue &queue,
                                 ProductType type, double &flops) {
  double seconds = 0;
  for (int64_t n = 128; n <= 8192 && seconds < longEnough; n *= 2) {
    auto bytes = n * n * (type == ProductType::f32 ? 4 : 2);
    device::Memory memory;
    if (!memory.allocate(device, device::Space::device, size_t(3 * bytes)))
      break;
    PAR_TRY(fillRandom(driver, device, queue, memory.begin(), size_t(2 * bytes)));
    Products products;
    PAR_TRY(products.load({squareProduct(n, type)}));
    void *buffers[4] = {nullptr, nullptr, nullptr, nullptr};
    for (int which : {0, 1, 3}) // nothing is added
      buffers[which] = device.inProgram(memory.begin() + std::min(which, 2) * bytes);
    PAR_TRY(timeBest(
        driver, queue, repetitions, [&] { return products.multiply(0, buffers, Scale{}, queue.stream()); },
        seconds));
    flops = 2 * double(n) * double(n) * double(n) / seconds;
  }
  return {};
}

io::Status measureRates(device::Device &device, const Driver &driver, CudaQueue &queue, ProductType type,
                        device::Rates &rates) {
  PAR_TRY(measureCopy(device, driver, queue, rates.copyBytes));
  return measureProduct(device, driver, queue, type, rates.flops);
}

} // namespace par::cuda
