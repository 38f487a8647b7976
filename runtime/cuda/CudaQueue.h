/// A stream as a queue.
#ifndef PAR_CUDA_CUDAQUEUE_H
#define PAR_CUDA_CUDAQUEUE_H

#include "cuda/Driver.h"
#include "device/Queue.h"

#include <memory>
#include <vector>

namespace par::cuda {

/// Events are recorded when they are asked for, or behind every piece of work. A call that fails makes the
/// queue fail: what is behind it has its status.
class CudaQueue : public device::Queue {
public:
  struct Options {
    size_t most = 0;         ///< pieces of work of the host that are under way at once
    bool everyPiece = false; ///< each piece of work has an event of its own
    /// Counted up when a stream's work begins to be recorded for a graph, and when that ends: no event of
    /// before may be waited for then.
    std::shared_ptr<const uint64_t> recordings;
  };
  static io::Status make(const Driver &driver, Options options, std::unique_ptr<CudaQueue> &queue);
  ~CudaQueue() override;

  uint64_t enqueue(const device::Work &work) override;
  uint64_t record() override;
  bool happened(uint64_t event) override;
  io::Status wait(uint64_t event) override;
  /// Whether an event has happened, or what failed.
  io::Status poll(uint64_t event, bool &happened);
  void fail(const io::Status &status) override { waits(status); }
  io::Status await(device::Queue &other, uint64_t event) override;

  /// Notes a piece of work that was put into the stream, with what became of the call; returns its event.
  uint64_t added(const io::Status &status);
  /// Notes that the stream waits for something: events from now on are behind that.
  void waits(const io::Status &status);
  const io::Status &status() const { return failure; }
  CUstream stream() const { return handle; }

private:
  struct Recorded {
    CUevent handle = nullptr;
    uint64_t event = 0; ///< 0: it was never recorded
    uint64_t recordings = 0;
  };
  struct Slot { ///< of work of the host
    CudaQueue *queue;
    device::Work work;
    io::Status status;
  };

  CudaQueue(const Driver &driver, Options options);
  bool isValid(const Recorded &one) const { return one.recordings == *options.recordings; }
  /// One that covers this event and as little else as there is.
  CUevent covering(uint64_t event);
  void recordHere();
  void note(const io::Status &status) {
    if (failure.ok())
      failure = status;
  }
  void takeHostFailures();

  const Driver &driver;
  const Options options;
  CUstream handle = nullptr;
  std::vector<Recorded> ring;
  size_t next = 0; ///< of the ring
  uint64_t given = 0;
  std::vector<Slot> slots;
  std::vector<uint64_t> slotEvents;
  size_t hostPieces = 0;
  io::Status failure;
};

} // namespace par::cuda
#endif
