/// What a rank computes on. The runtime knows memory of a device by its address only; what is there goes
/// through the copies below. The first device is cpu/CpuDevice.h.
#ifndef PAR_DEVICE_DEVICE_H
#define PAR_DEVICE_DEVICE_H

#include "device/FillWords.h"
#include "device/Queue.h"
#include "device/WorkQueue.h"
#include "par/runtime.h"

#include <atomic>
#include <memory>

namespace par::device {

class Accelerator;
class Device;

/// A byte of a device's memory. No pointer: the host may be unable to reach it. (CUDA: CUdeviceptr.)
struct Address {
  uint64_t value = 0;
  Address operator+(int64_t bytes) const { return {value + uint64_t(bytes)}; }
  bool operator==(Address other) const { return value == other.value; }
  bool operator!=(Address other) const { return value != other.value; }
};

/// The memories that an arena may be in: that of the device, and host memory that the device can read and
/// write.
enum class Space { device, host };

/// What a program is called with: the ABI's prefix and, behind it, what its device's entry points need.
struct Context : par_context {
  Device *device = nullptr;               ///< null: the entry points of a CPU run on the calling thread alone
  std::atomic<uint64_t> *beats = nullptr; ///< counted up by the rank at every entry point; null in tests
};

using Schedule = void (*)(par_context *);

/// What a device reaches: the roofs of the roofline.
struct Rates {
  double copyBytes = 0; ///< per second, read and written ones added up
  double flops = 0;     ///< per second, of a large f32 matrix product
};

/// Pairs of a query and a key whose scores attention computed, in all heads.
struct AttentionPairs {
  int64_t forward = 0, backward = 0;
};

/// The device of one rank, used by the rank's thread.
class Device {
public:
  virtual ~Device() = default;

  /// Memory of unknown content at a multiple of 64 bytes; false where there is none left.
  virtual bool allocate(Space space, size_t bytes, Address &begin) = 0;
  virtual void free(Space space, Address begin) = 0;

  // Done when they return. Nothing that is under way in a queue touches the same bytes.
  virtual void read(void *to, Address from, size_t bytes) = 0;
  virtual void write(Address to, const void *from, size_t bytes) = 0;
  /// Repeats a word; the last one is cut off.
  virtual void fill(Address to, uint32_t word, size_t bytes) = 0;
  /// Where dead ranges are poisoned: what lies there means nothing until it is written.
  virtual void discard(Address begin, size_t bytes) = 0;

  /// The order of what programs compute; collectives of programs that start none are in it, too.
  virtual Queue &compute() = 0;
  /// A queue beside it, of up to `most` pieces of work at once: for communication, or for copies.
  virtual std::unique_ptr<Queue> makeQueue(size_t most, QueueHooks hooks) = 0;
  /// Enqueues a copy between ranges that do not overlap and returns its event.
  virtual uint64_t copy(Queue &queue, Address to, Address from, size_t bytes) = 0;

  /// Runs a program; what it enqueues is in `compute` behind all that is there.
  virtual void launch(Schedule schedule, Context &context) = 0;
  /// An address as the program knows it, and the reverse: programs of a CPU read and write it themselves.
  virtual char *inProgram(Address address) = 0;
  virtual Address fromProgram(const void *address) = 0;
  /// An address as this process can read and write it, from a queue: for transports of the host. Null where
  /// it cannot.
  virtual void *reach(Address address) = 0;

  /// Measured, within some tenths of a second. All ranks at once give what they have when they compute
  /// together.
  virtual Rates measureRates() = 0;

  /// Since the device is there; none where nobody counts.
  virtual AttentionPairs attentionPairs() const { return {}; }

  /// What this device is besides, where programs only enqueue (Accelerator.h); null for the host's processor.
  virtual Accelerator *accelerator() { return nullptr; }
};

/// Memory of a device that is given back at the end, before the device.
class Memory {
public:
  Memory() = default;
  ~Memory() {
    if (device)
      device->free(space, first);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Once. False where the device has none left.
  bool allocate(Device &from, Space where, size_t bytes) {
    if (!from.allocate(where, bytes, first))
      return false;
    device = &from, space = where;
    return true;
  }
  Address begin() const { return first; }
  explicit operator bool() const { return device; }

private:
  Device *device = nullptr;
  Space space = Space::device;
  Address first;
};

} // namespace par::device
#endif
