#include "cuda/CudaQueue.h"

#include <algorithm>

namespace par::cuda {

/// As many as a rank may wait for and not yet have waited for: collectives and copies of a few layers.
static constexpr size_t leastEvents = 64;

CudaQueue::CudaQueue(const Driver &driver, Options given)
    : driver(driver), options(std::move(given)), ring(std::max(leastEvents, options.most + 1)),
      slots(options.most), slotEvents(options.most) {}

io::Status CudaQueue::make(const Driver &driver, Options options, std::unique_ptr<CudaQueue> &queue) {
  queue.reset(new CudaQueue(driver, std::move(options)));
  PAR_CUDA(driver, cuStreamCreateWithPriority, &queue->handle, CU_STREAM_NON_BLOCKING, 0);
  for (Recorded &one : queue->ring)
    PAR_CUDA(driver, cuEventCreate, &one.handle, CU_EVENT_DISABLE_TIMING);
  return {};
}

CudaQueue::~CudaQueue() {
  if (handle) {
    driver.cuStreamSynchronize(handle); // what is under way uses the slots
    driver.cuStreamDestroy_v2(handle);
  }
  for (Recorded &one : ring)
    if (one.handle)
      driver.cuEventDestroy_v2(one.handle);
}

uint64_t CudaQueue::added(const io::Status &status) {
  note(status);
  ++given;
  if (options.everyPiece)
    recordHere();
  return given;
}

void CudaQueue::waits(const io::Status &status) {
  note(status);
  ++given;
}

void CudaQueue::recordHere() {
  Recorded &one = ring[next++ % ring.size()];
  one.event = given, one.recordings = *options.recordings;
  note(driver.status("cuEventRecord", driver.cuEventRecord(one.handle, handle)));
}

uint64_t CudaQueue::record() {
  bool isRecorded = std::any_of(ring.begin(), ring.end(),
                                [&](const Recorded &one) { return one.event == given && isValid(one); });
  if (given > 0 && !isRecorded)
    recordHere();
  return given;
}

CUevent CudaQueue::covering(uint64_t event) {
  const Recorded *best = nullptr;
  for (const Recorded &one : ring)
    if (one.event >= event && isValid(one) && (!best || one.event < best->event))
      best = &one;
  if (best)
    return best->handle;
  recordHere();
  return covering(event);
}

void CudaQueue::takeHostFailures() {
  for (const Slot &slot : slots)
    note(slot.status);
}

bool CudaQueue::happened(uint64_t event) {
  return event == 0 || (failure.ok() && driver.cuEventQuery(covering(event)) == CUDA_SUCCESS);
}

io::Status CudaQueue::wait(uint64_t event) {
  if (event == 0)
    return {};
  if (failure.ok())
    note(driver.status("cuEventSynchronize", driver.cuEventSynchronize(covering(event))));
  takeHostFailures();
  return failure;
}

io::Status CudaQueue::poll(uint64_t event, bool &happened) {
  CUresult result = event == 0 ? CUDA_SUCCESS : driver.cuEventQuery(covering(event));
  happened = result == CUDA_SUCCESS;
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
    note(driver.status("cuEventQuery", result));
  takeHostFailures();
  return failure;
}

/// A wait of the device, not of the host.
io::Status CudaQueue::await(device::Queue &other, uint64_t event) {
  auto &from = static_cast<CudaQueue &>(other); // one rank's device has queues of one kind
  note(from.failure);
  if (event > 0 && failure.ok() && &from != this)
    waits(driver.status("cuStreamWaitEvent", driver.cuStreamWaitEvent(handle, from.covering(event), 0)));
  return failure;
}

/// In the order of the stream, on a thread of the driver.
uint64_t CudaQueue::enqueue(const device::Work &work) {
  if (slots.empty()) {
    note(io::Status::error("work of the host was put into a queue of a GPU that has no room for it"));
    return ++given;
  }
  size_t number = hostPieces++ % slots.size();
  if (slotEvents[number])
    (void)wait(slotEvents[number]);
  Slot &slot = slots[number];
  slot.queue = this, slot.work = work;
  auto run = [](void *given) {
    auto &slot = *static_cast<Slot *>(given);
    slot.status = slot.work();
  };
  uint64_t event = added(driver.status("cuLaunchHostFunc", driver.cuLaunchHostFunc(handle, run, &slot)));
  return slotEvents[number] = event;
}

} // namespace par::cuda
