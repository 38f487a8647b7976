#include "cuda/CudaDevice.h"

#include "cuda/GpuPeaks.h"
#include "cuda/MeasureRates.h"
#include "cuda/ProductTuning.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace par::cuda {

using device::Address;
using device::Space;

/// What is read and written at once, outside of steps.
static constexpr size_t stagingBytes = size_t(4) << 20;

io::Status CudaDevice::make(const CudaDeviceOptions &options, std::unique_ptr<CudaDevice> &device) {
  device.reset(new CudaDevice(options));
  return device->open();
}

io::Status CudaDevice::open() {
  PAR_TRY(Gpu::open(options.gpu, options.ranks, card));
  PAR_TRY(card->use());
  driver = &card->driver;
  recordings = std::make_shared<uint64_t>(0);
  CudaQueue::Options asked;
  asked.most = 16, asked.recordings = recordings;
  PAR_TRY(CudaQueue::make(*driver, asked, queue));
  void *pinned = nullptr;
  PAR_CUDA(*driver, cuMemHostAlloc, &pinned, stagingBytes, CU_MEMHOSTALLOC_PORTABLE);
  staging = static_cast<char *>(pinned);
  PAR_CUDA(*driver, cuMemHostAlloc, &pinned, sizeof(*progress),
           CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  progress = static_cast<uint32_t *>(pinned);
  *progress = 0;
  kernels = std::make_unique<Kernels>(*driver);
  products = std::make_unique<Products>(kernels.get());
  combiner = std::make_unique<Combiner>(*driver);
  stamps = std::make_unique<Stamps>(*driver);
  stepGraphs = std::make_unique<StepGraphs>(*driver);
  return {};
}

/// In the order in which one needs the other.
CudaDevice::~CudaDevice() {
  if (!queue)
    return;
  (void)card->use();
  driver->cuStreamSynchronize(queue->stream());
  stepGraphs.reset();
  stamps.reset();
  combiner.reset();
  attentions.reset();
  products.reset();
  kernels.reset();
  queue.reset();
  fences.clear();
  for (Address memory : {coordinates, sums.begin, received.begin})
    if (memory.value)
      driver->cuMemFree_v2(memory.value);
  for (void *pinned : {static_cast<void *>(staging), static_cast<void *>(progress)})
    if (pinned)
      driver->cuMemFreeHost(pinned);
}

io::Status CudaDevice::load(const CudaProgram &program) {
  size_t bytes = program.coordinates.size() * sizeof(int32_t);
  const float unit = 1;
  if (!allocate(Space::device, bytes + sizeof(unit), coordinates))
    return io::Status::error("coordinates of a rank find no room on " + describeMemory());
  if (!program.coordinates.empty())
    write(coordinates, program.coordinates.data(), bytes);
  one = coordinates + int64_t(bytes);
  write(one, &unit, sizeof(unit));
  attentionList = program.work.attentions, attentionPlans = program.attentionPlans;
  PAR_TRY(products->load(program.work.products, options.splitsSums));
  return kernels->load(program.name, program.ptx, program.work.kernels, coordinates.value);
}

/// For calls without a status of their own.
void CudaDevice::demand(const io::Status &status) const {
  if (!status.ok())
    throw std::runtime_error(card->name() + ": " + status.message());
}

bool CudaDevice::allocate(Space space, size_t bytes, Address &begin) {
  void *host = nullptr;
  CUdeviceptr address = 0;
  if (space == Space::device) {
    bool good = driver->cuMemAlloc_v2(&address, bytes) == CUDA_SUCCESS;
    begin.value = address;
    return good;
  }
  if (driver->cuMemHostAlloc(&host, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) !=
      CUDA_SUCCESS)
    return false;
  if (driver->cuMemHostGetDevicePointer_v2(&address, host, 0) != CUDA_SUCCESS) {
    driver->cuMemFreeHost(host);
    return false;
  }
  begin.value = address;
  hostMemory[address] = {static_cast<char *>(host), bytes};
  return true;
}

void CudaDevice::free(Space space, Address begin) {
  (void)card->use();
  if (space == Space::device) {
    driver->cuMemFree_v2(begin.value);
    return;
  }
  driver->cuMemFreeHost(hostMemory[begin.value].begin);
  hostMemory.erase(begin.value);
}

/// Where the host has the same bytes; null for those of the device alone.
void *CudaDevice::reach(Address address) {
  auto found = hostMemory.upper_bound(address.value);
  if (found == hostMemory.begin())
    return nullptr;
  --found;
  uint64_t offset = address.value - found->first;
  return offset < found->second.bytes ? found->second.begin + offset : nullptr;
}

/// Piece by piece through pinned memory: the driver would wait for each piece of any other.
void CudaDevice::read(void *to, Address from, size_t bytes) {
  for (size_t done = 0; done < bytes; done += stagingBytes) {
    size_t piece = std::min(stagingBytes, bytes - done);
    auto pinned = reinterpret_cast<CUdeviceptr>(staging);
    demand(driver->status("cuMemcpyAsync", driver->cuMemcpyAsync(pinned, (from + int64_t(done)).value, piece,
                                                                 queue->stream())));
    demand(driver->status("cuStreamSynchronize", driver->cuStreamSynchronize(queue->stream())));
    std::memcpy(static_cast<char *>(to) + done, staging, piece);
  }
}

void CudaDevice::write(Address to, const void *from, size_t bytes) {
  for (size_t done = 0; done < bytes; done += stagingBytes) {
    size_t piece = std::min(stagingBytes, bytes - done);
    std::memcpy(staging, static_cast<const char *>(from) + done, piece);
    auto pinned = reinterpret_cast<CUdeviceptr>(staging);
    demand(driver->status("cuMemcpyAsync",
                          driver->cuMemcpyAsync((to + int64_t(done)).value, pinned, piece, queue->stream())));
    demand(driver->status("cuStreamSynchronize", driver->cuStreamSynchronize(queue->stream())));
  }
}

/// Whole words by one call, the bytes before and behind them one by one.
io::Status CudaDevice::enqueueFill(Address to, uint32_t word, size_t bytes) {
  auto byteOf = [&](size_t at) { return static_cast<unsigned char>(word >> 8 * (at % 4)); };
  size_t first = std::min<size_t>(bytes, (4 - to.value % 4) % 4), words = (bytes - first) / 4, at = 0;
  for (; at < first; ++at)
    PAR_CUDA(*driver, cuMemsetD8Async, to.value + at, byteOf(at), 1, queue->stream());
  uint32_t turned = first ? word >> 8 * first | word << (32 - 8 * first) : word;
  if (words)
    PAR_CUDA(*driver, cuMemsetD32Async, to.value + at, turned, words, queue->stream());
  for (at += 4 * words; at < bytes; ++at)
    PAR_CUDA(*driver, cuMemsetD8Async, to.value + at, byteOf(at), 1, queue->stream());
  return {};
}

void CudaDevice::fill(Address to, uint32_t word, size_t bytes) {
  demand(enqueueFill(to, word, bytes));
  demand(driver->status("cuStreamSynchronize", driver->cuStreamSynchronize(queue->stream())));
}

void CudaDevice::discard(Address begin, size_t bytes) {
  if (options.poison)
    queue->added(enqueueFill(begin, device::poisonWord, bytes));
}

std::unique_ptr<device::Queue> CudaDevice::makeQueue(size_t most, device::QueueHooks) {
  CudaQueue::Options asked;
  asked.most = most, asked.everyPiece = true, asked.recordings = recordings;
  std::unique_ptr<CudaQueue> made;
  demand(CudaQueue::make(*driver, asked, made));
  return made;
}

uint64_t CudaDevice::copy(device::Queue &where, Address to, Address from, size_t bytes) {
  auto &stream = static_cast<CudaQueue &>(where);
  return stream.added(
      driver->status("cuMemcpyAsync", driver->cuMemcpyAsync(to.value, from.value, bytes, stream.stream())));
}

void CudaDevice::launch(device::Schedule schedule, device::Context &context) {
  if (!records) {
    schedule(&context);
    return;
  }
  queue->added(stepGraphs->run(schedule, context, *queue, [this] { ++*recordings; }));
}

device::Rates CudaDevice::measureRates() {
  const ProductWork *first = products->find(0);
  device::Rates rates;
  demand(cuda::measureRates(*this, *driver, *queue, first ? first->type : ProductType::f32, rates));
  return rates;
}

io::Status CudaDevice::launch(int32_t kernel, void *const *buffers) {
  io::Status status = kernels->launch(kernel, buffers, queue->stream());
  queue->added(status);
  return status;
}

/// The value of a constant that the program names by its address; what a kernel writes there, the device
/// knows.
Scale CudaDevice::scaleOf(const ProductWork &work, const void *scale) const {
  if (work.beta != Beta::value)
    return {work.beta == Beta::none ? 0.f : 1.f};
  auto found = constants.find(reinterpret_cast<uint64_t>(scale));
  if (found != constants.end())
    return {found->second};
  return {0, scale, reinterpret_cast<const void *>(one.value)};
}

io::Status CudaDevice::multiply(int32_t product, void *const *buffers, const void *scale) {
  const ProductWork *work = products->find(product);
  if (!work)
    return io::Status::error("ran product " + std::to_string(product) + " of " +
                             std::to_string(products->size()) + "; compile the package again");
  if (work->beta == Beta::value && !scale)
    return io::Status::error("product " + std::to_string(product) +
                             " has nothing that scales what is added; compile the package again");
  if (work->beta != Beta::none && !buffers[2])
    return io::Status::error("product " + std::to_string(product) +
                             " has nothing that is added to it; compile the package again");
  if ((work->hasVector() && !buffers[4]) || (work->hasAux() && !buffers[5]))
    return io::Status::error("product " + std::to_string(product) +
                             " has no buffer for its epilogue; compile the package again");
  if (work->workspace && !buffers[work->workspacePlace()])
    return io::Status::error("product " + std::to_string(product) +
                             " has no workspace; compile the package again");
  io::Status status = products->multiply(product, buffers, scaleOf(*work, scale), queue->stream());
  queue->added(status);
  return status;
}

io::Status CudaDevice::planAttention(device::LibraryAttention &library) {
  PAR_TRY(card->use());
  PlanBasis here;
  here.chip = card->chipNumber();
  PAR_TRY(card->processors(here.processors));
  auto planned = std::make_unique<Attentions>();
  PAR_TRY(planned->load(attentionList, here, attentionPlans ? &*attentionPlans : nullptr));
  attentions = std::move(planned);
  library = {attentions->version(), attentions->origin()};
  return {};
}

io::Status CudaDevice::attend(int32_t attention, void *const *buffers) {
  if (attention < 0 || size_t(attention) >= attentionList.size())
    return io::Status::error("ran attention " + std::to_string(attention) + " of " +
                             std::to_string(attentionList.size()) + "; compile the package again");
  io::Status status =
      attendsByLibrary ? attentions->attend(attention, buffers, queue->stream())
                       : kernels->launch(attentionList[size_t(attention)].launches, buffers, queue->stream());
  queue->added(status);
  return status;
}

io::Status CudaDevice::describeMachine(std::string &text) {
  std::string library;
  PAR_TRY(products->version(library));
  text = card->productName() + ", " + card->driverVersion() + ", " + library;
  return {};
}

io::Status CudaDevice::tune(const device::TuningRoom &room, std::vector<int> &ways) {
  return tuneProducts(*driver, *this, *queue, *products, room, ways);
}

io::Status CudaDevice::findFirstWays(Address begin, std::vector<int> &ways) {
  return cuda::findFirstWays(*this, *products, begin, ways);
}

void CudaDevice::chooseWays(const std::vector<int> &ways) {
  for (size_t number = 0; number < ways.size(); ++number)
    products->chooseWay(int32_t(number), ways[number]);
}

/// 0 is no mark.
void CudaDevice::mark(int32_t action) {
  queue->added(
      driver->status("cuStreamWriteValue32_v2",
                     driver->cuStreamWriteValue32_v2(queue->stream(), reinterpret_cast<CUdeviceptr>(progress),
                                                     uint32_t(action) + 1, CU_STREAM_WRITE_VALUE_DEFAULT)));
}

/// Looks again and again: soon at first, for steps may be short.
io::Status CudaDevice::finish(const std::function<void(int32_t)> &sees) {
  uint64_t event = queue->record();
  uint32_t seen = 0;
  bool happened = false;
  auto pause = std::chrono::microseconds(5);
  while (!happened) {
    PAR_TRY(queue->poll(event, happened));
    uint32_t word = __atomic_load_n(progress, __ATOMIC_ACQUIRE);
    if (word != seen && word > 0)
      sees(int32_t(word) - 1);
    seen = word;
    if (!happened)
      std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(500));
  }
  return {};
}

namespace {
class CudaFence : public device::Fence {
public:
  CudaFence(const Driver &driver, CUevent event) : driver(driver), event(event) {}
  ~CudaFence() override { driver.cuEventDestroy_v2(event); }
  io::Status record(device::Queue &queue) override {
    PAR_CUDA(driver, cuEventRecord, event, static_cast<CudaQueue &>(queue).stream());
    return {};
  }
  io::Status await(device::Queue &queue) override {
    auto &stream = static_cast<CudaQueue &>(queue);
    io::Status status =
        driver.status("cuStreamWaitEvent", driver.cuStreamWaitEvent(stream.stream(), event, 0));
    stream.waits(status);
    return status;
  }

private:
  const Driver &driver;
  CUevent event;
};
} // namespace

device::Fence &CudaDevice::makeFence() {
  CUevent event = nullptr;
  demand(driver->status("cuEventCreate", driver->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING)));
  fences.push_back(std::make_unique<CudaFence>(*driver, event));
  return *fences.back();
}

double CudaDevice::peakFlops(device::Element type) const {
  GpuPeaks peaks = peaksOf(card->productName());
  return type == device::Element::bf16 ? peaks.bf16 : peaks.f32;
}

io::Status CudaDevice::combine(device::Queue &where, device::Combination how, device::Element type,
                               const Address *sources, size_t sourceCount, const Address *targets,
                               size_t targetCount, int64_t elements) {
  auto &stream = static_cast<CudaQueue &>(where);
  io::Status status =
      combiner->combine(stream, how, type, sources, sourceCount, targets, targetCount, elements);
  stream.added(status);
  return status;
}

io::Status CudaDevice::clear(device::Queue &where, Address to, size_t bytes) {
  auto &stream = static_cast<CudaQueue &>(where);
  io::Status status =
      driver->status("cuMemsetD8Async", driver->cuMemsetD8Async(to.value, 0, bytes, stream.stream()));
  stream.added(status);
  return status;
}

io::Status CudaDevice::reserve(int64_t elements, int64_t bytes) {
  PAR_TRY(grow(sums, Combiner::roomOf(elements), "for sums"));
  if (elements > 0)
    PAR_TRY(combiner->use(sums.begin.value, sums.bytes));
  return grow(received, bytes, "for what is received");
}

io::Status CudaDevice::grow(Room &room, int64_t bytes, const char *what) {
  if (bytes <= room.bytes)
    return {};
  if (room.begin.value)
    free(Space::device, room.begin);
  room = {};
  if (!allocate(Space::device, size_t(bytes), room.begin))
    return io::Status::error("needs " + std::to_string(bytes) + " bytes " + what + " on " + describeMemory());
  room.bytes = bytes;
  return {};
}

} // namespace par::cuda
