/// What a rank has asked of NCCL, and how far its GPU has come: told when a run ends early.
#ifndef PAR_COMM_NCCL_FLIGHTRECORDER_H
#define PAR_COMM_NCCL_FLIGHTRECORDER_H

#include "cuda/CudaDevice.h"

#include <deque>
#include <mutex>
#include <string>

namespace par::nccl {

/// A ring of the last operations of every lane, which is a stream: the GPU writes the number of each before
/// it and behind it, so that nobody has to ask the driver. The host writes entries in a step without taking
/// memory.
class FlightRecorder {
public:
  ~FlightRecorder();
  /// Once, by the thread of the device, and before all else.
  io::Status open(cuda::CudaDevice &device);

  struct Operation {
    const char *kind; ///< "all_reduce", "send"
    int64_t bytes;    ///< of the rank's source, or of the message
    int action;       ///< of the program; -1: none
  };
  /// A new lane: "collectives", "to rank 1".
  int addLane(std::string name);
  // Around the calls, on the stream of the lane.
  io::Status begin(int lane, cuda::CudaQueue &queue, const Operation &operation);
  io::Status end(int lane, cuda::CudaQueue &queue);

  /// A line for every operation that has not ended, and for the last one that has. From any thread.
  std::string text(int rank) const;

private:
  struct Lane {
    std::string name;
    std::deque<Operation> ring; ///< number n lies at (n - 1) modulo its size
    uint32_t given = 0;
  };
  io::Status write(int lane, size_t word, cuda::CudaQueue &queue);
  uint32_t reached(size_t lane, size_t word) const;

  cuda::CudaDevice *device = nullptr;
  device::Address memory; ///< pinned: two words for each lane, that of the operation begun and of that ended
  uint32_t *words = nullptr; ///< the same as the host reads them
  mutable std::mutex mutex;
  std::deque<Lane> lanes;
};

} // namespace par::nccl
#endif
