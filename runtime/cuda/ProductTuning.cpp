#include "cuda/ProductTuning.h"

#include "cuda/Timing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <numeric>

namespace par::cuda {

using device::Address;
using Clock = std::chrono::steady_clock;

/// Another way than the first has to be so much quicker: less is noise.
static constexpr double least = 0.97;
/// What takes so many times as long as another way is not run again.
static constexpr double farBehind = 2;
/// Runs between two events take so long, if they are not more than this: launches are behind them. One of a
/// millisecond told an H100's ways of a large product apart by chance, a step was 2 % longer.
static constexpr double longEnough = 4e-3;
static constexpr int mostRuns = 64, repetitions = 3;

/// From its first element to its last.
static int64_t bytesOf(const ProductWork &work, ProductType type, int64_t rows, int64_t columns, int64_t ld,
                       int64_t stride) {
  return ((work.batch - 1) * stride + (rows - 1) * ld + columns) * (type == ProductType::f32 ? 4 : 2);
}

namespace {
/// A call of a product in scratch memory: each buffer at a multiple of what packages place buffers at.
struct Trial {
  std::array<void *, ProductWork::mostBuffers> buffers{};
  int64_t inputs = 0, bytes = 0; ///< of what is read before it is written, and of all
};
} // namespace

static Trial placeTrial(const ProductWork &work, device::Device &device, Address begin) {
  Trial trial;
  auto place = [&](size_t number, int64_t bytes) {
    trial.buffers[number] = device.inProgram(begin + trial.bytes);
    trial.bytes += (bytes + 255) / 256 * 256;
  };
  int64_t element = work.result == ProductType::f32 ? 4 : 2;
  place(0, bytesOf(work, work.type, work.transposeA ? work.k : work.m, work.transposeA ? work.m : work.k,
                   work.lda, work.strideA));
  place(1, bytesOf(work, work.type, work.transposeB ? work.n : work.k, work.transposeB ? work.k : work.n,
                   work.ldb, work.strideB));
  place(3, bytesOf(work, work.result, work.m, work.n, work.ldc, work.strideC));
  if (work.hasVector())
    place(4, std::max(work.m, work.n) * element);
  if (work.hasAux())
    place(5, work.m * work.ldc * element);
  trial.inputs = trial.bytes;
  if (work.workspace)
    place(work.workspacePlace(), work.workspace);
  for (const InnerLaunch &launch : work.separate) // what launches leave for each other
    for (const InnerLaunch::Buffer &buffer : launch.buffers)
      if (!trial.buffers[buffer.number])
        place(buffer.number, buffer.bytes);
  if (work.beta != Beta::none) // as gradients are added up: in place
    trial.buffers[2] = trial.buffers[3];
  return trial;
}

/// Of the way that is chosen; no longer than it takes to see that it is far behind `quickest`, 0 for none.
static io::Status timeProduct(const Driver &driver, CudaQueue &queue, Products &products, int32_t number,
                              const Trial &trial, double quickest, double &seconds) {
  Scale beta{trial.buffers[2] ? 1.f : 0.f};
  int runs = 1;
  auto run = [&]() -> io::Status {
    for (int i = 0; i < runs; ++i)
      PAR_TRY(products.multiply(number, trial.buffers.data(), beta, queue.stream()));
    return {};
  };
  PAR_TRY(timeBest(driver, queue, 1, run, seconds)); // it may have to be loaded
  PAR_TRY(timeBest(driver, queue, 1, run, seconds));
  if (quickest > 0 && seconds > farBehind * quickest)
    return {};
  runs = seconds > 0 ? int(std::clamp(longEnough / seconds, 1.0, double(mostRuns))) : mostRuns;
  PAR_TRY(timeBest(driver, queue, repetitions, run, seconds));
  seconds /= runs;
  return {};
}

/// Leaves `way` at -1 where the time does not suffice for all of its ways, or there is one alone.
static io::Status tuneProduct(const Driver &driver, CudaQueue &queue, Products &products, int32_t number,
                              const Trial &trial, Clock::time_point end, const std::function<void()> &beat,
                              int &way) {
  std::vector<int> ways;
  double first = 0, quickest = 0;
  PAR_TRY(products.findWays(number, trial.buffers.data(), ways));
  if (ways.size() < 2)
    return {};
  int best = ways.front();
  for (int each : ways) {
    if (Clock::now() >= end)
      return {};
    if (beat)
      beat();
    double seconds = 0;
    products.chooseWay(number, each);
    PAR_TRY(timeProduct(driver, queue, products, number, trial, quickest, seconds));
    if (each == ways.front())
      first = quickest = seconds;
    if (seconds < quickest && seconds < least * first)
      best = each, quickest = seconds;
  }
  way = best;
  return {};
}

io::Status tuneProducts(const Driver &driver, device::Device &device, CudaQueue &queue, Products &products,
                        const device::TuningRoom &room, std::vector<int> &ways) {
  auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(room.seconds));
  static std::mutex one; // ranks that share a GPU do not disturb each other
  std::lock_guard<std::mutex> lock(one);
  std::vector<int32_t> order(ways.size());
  std::iota(order.begin(), order.end(), 0);
  auto work = [&](int32_t number) -> const ProductWork & { return *products.find(number); };
  auto flops = [&](int32_t number) {
    return double(work(number).m) * double(work(number).n) * double(work(number).k) *
           double(work(number).batch);
  };
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return flops(a) != flops(b) ? flops(a) > flops(b) : a < b; });
  for (int32_t number : order) {
    Trial trial = placeTrial(work(number), device, room.begin);
    if (ways[size_t(number)] >= 0 || trial.bytes > room.bytes || Clock::now() >= end)
      continue;
    PAR_TRY(fillRandom(driver, device, queue, room.begin, size_t(trial.inputs)));
    PAR_TRY(tuneProduct(driver, queue, products, number, trial, end, room.beat, ways[size_t(number)]));
    products.chooseWay(number, 0);
  }
  return {};
}

io::Status findFirstWays(device::Device &device, Products &products, Address begin, std::vector<int> &ways) {
  ways.assign(products.size(), 0);
  for (size_t number = 0; number < products.size(); ++number) {
    const ProductWork &work = *products.find(int32_t(number));
    if (work.separate.empty())
      continue;
    std::vector<int> all;
    PAR_TRY(products.findWays(int32_t(number), placeTrial(work, device, begin).buffers.data(), all));
    ways[number] = all.front();
  }
  return {};
}

} // namespace par::cuda
