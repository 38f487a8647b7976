/// What a rank has asked of NCCL, and how far its GPU has come: told when a run ends early.
#ifndef PAR_COMM_NCCL_FLIGHTRECORDER_H
#define PAR_COMM_NCCL_FLIGHTRECORDER_H

#include "cuda/CudaDevice.h"

#include <deque>
#include <mutex>
#include <string>

namespace par::nccl {

/// A ring of the last operations of every lane, which is a stream. The GPU writes a word before each and
/// behind it, also where a step was recorded and is done again: nobody has to ask the driver. The host writes
/// entries in a step without taking memory.
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

  /// Of every lane the last operation that has ended, the one under way, and the next ones. From any thread.
  std::string text(int rank) const;

private:
  struct Lane {
    std::string name;
    std::deque<Operation> ring; ///< number n lies at (n - 1) modulo its size
    uint32_t given = 0;
  };
  io::Status write(int lane, uint32_t word, cuda::CudaQueue &queue);
  std::string textOf(const std::string &prefix, const Lane &lane, uint32_t word) const;

  cuda::CudaDevice *device = nullptr;
  /// Pinned, a word for each lane: 2 n when its operation n has begun, 2 n + 1 when it has ended.
  device::Address memory;
  uint32_t *words = nullptr; ///< the same as the host reads them
  mutable std::mutex mutex;
  std::deque<Lane> lanes;
};

} // namespace par::nccl
#endif
