#include "comm/nccl/FlightRecorder.h"

#include <algorithm>

namespace par::nccl {

static constexpr size_t mostLanes = 1024, ringSize = 64;
static constexpr size_t begun = 0, ended = 1; ///< words of a lane

FlightRecorder::~FlightRecorder() {
  if (words)
    device->free(device::Space::host, memory);
}

io::Status FlightRecorder::open(cuda::CudaDevice &on) {
  if (!on.allocate(device::Space::host, 2 * mostLanes * sizeof(*words), memory))
    return io::Status::error(on.gpu().name() + ": no pinned memory of the host is left for NCCL's record");
  device = &on;
  words = static_cast<uint32_t *>(on.reach(memory));
  std::fill_n(words, 2 * mostLanes, 0u);
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
io::Status FlightRecorder::write(int lane, size_t word, cuda::CudaQueue &queue) {
  if (size_t(lane) >= mostLanes)
    return {};
  const cuda::Driver &driver = device->gpu().driver;
  cuda::CUdeviceptr to = (memory + int64_t(sizeof(*words)) * (2 * lane + int64_t(word))).value;
  PAR_CUDA(driver, cuStreamWriteValue32_v2, queue.stream(), to, lanes[size_t(lane)].given,
           cuda::CU_STREAM_WRITE_VALUE_DEFAULT);
  return {};
}

io::Status FlightRecorder::begin(int lane, cuda::CudaQueue &queue, const Operation &operation) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    Lane &where = lanes[size_t(lane)];
    where.ring[where.given++ % ringSize] = operation;
  }
  return write(lane, begun, queue);
}

io::Status FlightRecorder::end(int lane, cuda::CudaQueue &queue) { return write(lane, ended, queue); }

uint32_t FlightRecorder::reached(size_t lane, size_t word) const {
  return lane < mostLanes ? __atomic_load_n(&words[2 * lane + word], __ATOMIC_ACQUIRE) : 0;
}

std::string FlightRecorder::text(int rank) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string all;
  for (size_t lane = 0; lane < lanes.size() && words; ++lane) {
    const Lane &where = lanes[lane];
    uint32_t first =
        std::max(reached(lane, ended), where.given > ringSize ? where.given - uint32_t(ringSize) : 0);
    for (uint32_t number = std::max(first, 1u); number <= where.given; ++number) {
      const Operation &one = where.ring[(number - 1) % ringSize];
      const char *state = number <= reached(lane, ended)   ? "done"
                          : number <= reached(lane, begun) ? "started"
                                                           : "enqueued";
      all += "nccl: rank " + std::to_string(rank) + ": " + where.name + " " + std::to_string(number) + ": " +
             one.kind + " of " + std::to_string(one.bytes) + " bytes" +
             (one.action < 0 ? "" : ", action " + std::to_string(one.action)) + ": " + state + "\n";
    }
  }
  return all;
}

} // namespace par::nccl
