#include "comm/nccl/FlightRecorder.h"

#include <algorithm>

namespace par::nccl {

static constexpr size_t mostLanes = 1024, ringSize = 4096;
static constexpr uint32_t mostTold = 4; ///< of those that have not begun

FlightRecorder::~FlightRecorder() {
  if (words)
    device->free(device::Space::host, memory);
}

io::Status FlightRecorder::open(cuda::CudaDevice &on) {
  if (!on.allocate(device::Space::host, mostLanes * sizeof(*words), memory))
    return io::Status::error(on.gpu().name() + ": no pinned memory of the host is left for NCCL's record");
  device = &on;
  words = static_cast<uint32_t *>(on.reach(memory));
  std::fill_n(words, mostLanes, 0u);
  return {};
}

int FlightRecorder::addLane(std::string name) {
  std::lock_guard<std::mutex> lock(mutex);
  lanes.emplace_back();
  lanes.back().name = std::move(name);
  lanes.back().ring.resize(ringSize);
  return int(lanes.size()) - 1;
}

/// Lanes beyond the room are not recorded.
io::Status FlightRecorder::write(int lane, uint32_t word, cuda::CudaQueue &queue) {
  if (size_t(lane) >= mostLanes)
    return {};
  const cuda::Driver &driver = device->gpu().driver;
  cuda::CUdeviceptr to = (memory + int64_t(sizeof(*words)) * lane).value;
  io::Status status = driver.status(
      "cuStreamWriteValue32_v2",
      driver.cuStreamWriteValue32_v2(queue.stream(), to, word, cuda::CU_STREAM_WRITE_VALUE_DEFAULT));
  queue.waits(status); // who waits for the queue waits for the word, too
  return status;
}

io::Status FlightRecorder::begin(int lane, cuda::CudaQueue &queue, const Operation &operation) {
  uint32_t number = 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    Lane &where = lanes[size_t(lane)];
    where.ring[where.given++ % ringSize] = operation;
    number = where.given;
  }
  return write(lane, 2 * number, queue);
}

io::Status FlightRecorder::end(int lane, cuda::CudaQueue &queue) {
  return write(lane, 2 * lanes[size_t(lane)].given + 1, queue);
}

/// Lines, each behind `prefix`.
std::string FlightRecorder::textOf(const std::string &prefix, const Lane &lane, uint32_t word) const {
  uint32_t oldest = lane.given > ringSize ? lane.given - uint32_t(ringSize) + 1 : 1;
  uint32_t ended = word % 2 ? word / 2 : word / 2 - (word ? 1 : 0), begun = word / 2,
           number = std::max(ended, oldest);
  std::string all;
  for (; number <= lane.given && number <= begun + mostTold; ++number) {
    const Operation &one = lane.ring[(number - 1) % ringSize];
    all += prefix + lane.name + " " + std::to_string(number) + ": " + one.kind + " of " +
           std::to_string(one.bytes) + " bytes" +
           (one.action < 0 ? "" : ", action " + std::to_string(one.action)) + ": " +
           (number <= ended   ? "done"
            : number <= begun ? "started"
                              : "enqueued") +
           "\n";
  }
  if (number <= lane.given)
    all += prefix + lane.name + ": " + std::to_string(lane.given - number + 1) + " more are enqueued\n";
  return all;
}

std::string FlightRecorder::text(int rank) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string all;
  for (size_t lane = 0; lane < std::min(lanes.size(), mostLanes) && words; ++lane)
    all += textOf("nccl: rank " + std::to_string(rank) + ": ", lanes[lane],
                  __atomic_load_n(&words[lane], __ATOMIC_ACQUIRE));
  return all;
}

} // namespace par::nccl
