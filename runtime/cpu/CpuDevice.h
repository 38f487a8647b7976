/// The CPU as a device: memory is the process's, programs run on the rank's thread and its pool.
#ifndef PAR_CPU_CPUDEVICE_H
#define PAR_CPU_CPUDEVICE_H

#include "cpu/Pool.h"
#include "device/Device.h"

#include <memory>

namespace par::cpu {

struct CpuDeviceOptions {
  int threads = 1;     ///< per rank
  bool poison = false; ///< programs fill dead ranges with NaN
  /// Every address is a pointer with these bits flipped. With high bits nothing is mapped there, so that
  /// whatever takes an address for a pointer crashes, as it would on a GPU: for tests (docs/Running.md).
  uint64_t flippedBits = 0;
};

class CpuDevice : public device::Device {
public:
  explicit CpuDevice(const CpuDeviceOptions &options);

  bool allocate(device::Space space, size_t bytes, device::Address &begin) override;
  void free(device::Space space, device::Address begin) override;
  void read(void *to, device::Address from, size_t bytes) override;
  void write(device::Address to, const void *from, size_t bytes) override;
  void fill(device::Address to, uint32_t word, size_t bytes) override;
  void discard(device::Address begin, size_t bytes) override {
    if (options.poison)
      fill(begin, device::poisonWord, bytes);
  }
  device::Queue &compute() override { return queue; }
  std::unique_ptr<device::Queue> makeQueue(size_t most, device::QueueHooks hooks) override;
  uint64_t copy(device::Queue &queue, device::Address to, device::Address from, size_t bytes) override;
  void launch(device::Schedule schedule, device::Context &context) override { schedule(&context); }
  char *inProgram(device::Address address) override { return pointer(address); }
  device::Address fromProgram(const void *address) override {
    return {reinterpret_cast<uint64_t>(address) ^ options.flippedBits};
  }
  void *reach(device::Address address) override { return pointer(address); }

  device::Rates measureRates() override;
  device::AttentionPairs attentionPairs() const override { return {pairs[0], pairs[1]}; }

  Pool *threads() const { return pool.get(); } ///< null with one thread
  std::atomic<int64_t> &countedPairs(bool backward) { return pairs[backward]; }

private:
  char *pointer(device::Address address) const {
    return reinterpret_cast<char *>(address.value ^ options.flippedBits);
  }

  const CpuDeviceOptions options;
  std::unique_ptr<Pool> pool;
  device::InlineQueue queue;
  std::atomic<int64_t> pairs[2] = {}; ///< that attention computed, forward and backward
};

/// Repeats a word; the last one is cut off.
void fillWords(char *begin, uint32_t word, size_t bytes);

} // namespace par::cpu
#endif
