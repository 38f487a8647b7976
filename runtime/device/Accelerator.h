/// A device that is not the host's processor: programs enqueue what it computes, by numbers in their
/// package's lists.
#ifndef PAR_DEVICE_ACCELERATOR_H
#define PAR_DEVICE_ACCELERATOR_H

#include "device/Device.h"

#include <functional>
#include <string>

namespace par::device {

/// Elements that collectives combine.
enum class Element { f32, i32, i64, bf16 };
enum class Combination { sum, max, min };

/// A place in a queue that queues of other ranks can wait for. Whoever waits does it behind `record`, and
/// before the next one: ranks meet in between.
class Fence {
public:
  virtual ~Fence() = default;
  /// Behind all that the queue has.
  virtual io::Status record(Queue &queue) = 0;
  /// What the queue gets from now on is behind the fence.
  virtual io::Status await(Queue &queue) = 0;
};

/// Where and how long ways to compute are measured.
struct TuningRoom {
  Address begin; ///< memory that is overwritten
  int64_t bytes = 0;
  double seconds = 0;
  std::function<void()> beat{}; ///< called now and then: it takes long and is no stall
};

/// A library that computes a program's attention.
struct LibraryAttention {
  std::string name;   ///< "cuDNN 9.19.0"
  std::string origin; ///< where its plans are from, where the package brings some
};

/// What a Device is besides.
class Accelerator {
public:
  virtual ~Accelerator() = default;

  // What entry points call. All of it is enqueued behind what is in `compute`.
  virtual io::Status launch(int32_t kernel, void *const *buffers) = 0;
  /// `scale`: address of an f32 constant, or null.
  virtual io::Status multiply(int32_t product, void *const *buffers, const void *scale) = 0;

  virtual io::Status attend(int32_t attention, void *const *buffers) = 0;

  /// A constant of the program, which the host needs as well: it cannot read memory in the middle of a step.
  virtual void keepConstant(Address where, float value) = 0;

  /// The device says that it has come to an action.
  virtual void mark(int32_t action) = 0;
  /// Waits for all that programs have enqueued. `sees` is told the last mark whenever there is a new one.
  virtual io::Status finish(const std::function<void(int32_t action)> &sees) = 0;
  /// From now on a program's step is run as it was recorded, without its code being called, where that is
  /// possible.
  virtual void setRecords(bool records) = 0;

  /// Operations per second of products of such numbers that its maker states, without sparsity; 0: not known.
  virtual double peakFlops(Element type) const = 0;

  // Products may be computed in several ways, each with a number: cuda/CudaWork.h.
  /// What times of theirs depend on: "NVIDIA H100 80GB HBM3, CUDA 12.8, cuBLASLt 13.0.2".
  virtual io::Status describeMachine(std::string &text) = 0;
  /// Finds the quickest way of every product of the program whose entry is -1, the largest first. It stays -1
  /// where there is one way alone, or time or memory does not suffice. Changes nothing else.
  virtual io::Status tune(const TuningRoom &room, std::vector<int> &ways) = 0;
  /// How each product of the program is computed where nothing was measured. `begin`: of memory in which
  /// calls would have their buffers; it stays as it is.
  virtual io::Status findFirstWays(Address begin, std::vector<int> &ways) = 0;
  /// An entry for each product: how it is computed from now on.
  virtual void chooseWays(const std::vector<int> &ways) = 0;

  // Attention may be computed by a library instead of the program's kernels, which do it at first.
  /// Plans what the program's list has; `library` then says by what. Error: why it cannot be. Takes no effect
  /// yet.
  virtual io::Status planAttention(LibraryAttention &library) = 0;
  /// From now on; by a library only where that was planned.
  virtual void chooseAttention(bool byLibrary) = 0;

  // For who measures a step.
  /// The time at which a queue comes here is kept under a number, until the next time that it does.
  virtual io::Status stamp(Queue &queue, size_t number) = 0;
  /// Seconds between two stamps, both of which queues have come to.
  virtual io::Status elapsed(size_t from, size_t to, double &seconds) = 0;

  // For collectives of ranks whose devices reach each other's memory.
  /// Owned by the device.
  virtual Fence &makeFence() = 0;
  /// Combines elements of several buffers, one after the other, and writes the result to several. bf16 is
  /// summed in f32 and rounded once. A target may be one of the sources.
  virtual io::Status combine(Queue &queue, Combination how, Element type, const Address *sources,
                             size_t sourceCount, const Address *targets, size_t targetCount,
                             int64_t elements) = 0;
  /// Enqueues zeros.
  virtual io::Status clear(Queue &queue, Address to, size_t bytes) = 0;
  /// Room for combinations of so many elements and `room` of so many bytes, so that none takes memory in a
  /// step.
  virtual io::Status reserve(int64_t elements, int64_t bytes) = 0;
  /// For whoever finds no room: "GPU 0 (name), of whose 100 bytes 10 are free: ...", and what to do.
  virtual std::string describeMemory() const = 0;
  /// Memory for what a collective receives before it may be written to its place.
  virtual Address room() const = 0;
};

} // namespace par::device
#endif
