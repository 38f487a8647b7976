/// A GPU as the device of one rank: memory, streams, kernels and products.
#ifndef PAR_CUDA_CUDADEVICE_H
#define PAR_CUDA_CUDADEVICE_H

#include "cuda/Combine.h"
#include "cuda/CudaQueue.h"
#include "cuda/Gpu.h"
#include "cuda/Kernels.h"
#include "cuda/Products.h"
#include "cuda/Stamps.h"
#include "cuda/StepGraph.h"
#include "cuda/cudnn/Attentions.h"
#include "device/Accelerator.h"

#include <memory>
#include <optional>

namespace par::cuda {

struct CudaDeviceOptions {
  int gpu = 0;
  int ranks = 1;           ///< of this machine that need a GPU of their own each
  bool poison = false;     ///< programs fill dead ranges with NaN
  bool splitsSums = false; ///< of products (Products.h)
};

/// The module that a program launches kernels of.
struct CudaProgram {
  std::string name, ptx; ///< name: of the text, for messages
  ProgramWork work;
  std::vector<int32_t> coordinates;          ///< of the rank
  std::optional<StoredPlans> attentionPlans; ///< that the package brings along
};

/// Used by the thread that made it. What can only fail when a GPU breaks down in the middle of a call that
/// has no status of its own (read, write, fill) throws std::runtime_error.
class CudaDevice : public device::Device, public device::Accelerator {
public:
  static io::Status make(const CudaDeviceOptions &options, std::unique_ptr<CudaDevice> &device);
  ~CudaDevice() override;

  /// Once.
  io::Status load(const CudaProgram &program);
  const Gpu &gpu() const { return *card; }
  /// Nodes of a schedule's graph; 0: it was not recorded.
  size_t recordedNodes(device::Schedule schedule) const { return stepGraphs->nodes(schedule); }
  size_t fenceCount() const { return fences.size(); }

  // Device.
  bool allocate(device::Space space, size_t bytes, device::Address &begin) override;
  void free(device::Space space, device::Address begin) override;
  void read(void *to, device::Address from, size_t bytes) override;
  void write(device::Address to, const void *from, size_t bytes) override;
  void fill(device::Address to, uint32_t word, size_t bytes) override;
  void discard(device::Address begin, size_t bytes) override;
  double peakFlops(device::Element type) const override;
  device::Queue &compute() override { return *queue; }
  /// No thread runs on the host for a stream: `hooks` are for those, and not called.
  std::unique_ptr<device::Queue> makeQueue(size_t most, device::QueueHooks hooks) override;
  uint64_t copy(device::Queue &queue, device::Address to, device::Address from, size_t bytes) override;
  void launch(device::Schedule schedule, device::Context &context) override;
  char *inProgram(device::Address address) override { return reinterpret_cast<char *>(address.value); }
  device::Address fromProgram(const void *address) override { return {reinterpret_cast<uint64_t>(address)}; }
  void *reach(device::Address address) override;
  /// Of its programs' type of product.
  device::Rates measureRates() override;
  device::Accelerator *accelerator() override { return this; }

  // Accelerator.
  io::Status launch(int32_t kernel, void *const *buffers) override;
  io::Status multiply(int32_t product, void *const *buffers, const void *scale) override;
  io::Status attend(int32_t attention, void *const *buffers) override;
  io::Status planAttention(device::LibraryAttention &library) override;
  void chooseAttention(bool byLibrary) override { attendsByLibrary = byLibrary && attentions; }
  void keepConstant(device::Address where, float value) override { constants[where.value] = value; }
  void mark(int32_t action) override;
  io::Status finish(const std::function<void(int32_t)> &sees) override;
  void setRecords(bool wanted) override { records = wanted; }
  io::Status describeMachine(std::string &text) override;
  io::Status tune(const device::TuningRoom &room, std::vector<int> &ways) override;
  io::Status findFirstWays(device::Address begin, std::vector<int> &ways) override;
  void chooseWays(const std::vector<int> &ways) override;
  io::Status stamp(device::Queue &where, size_t number) override {
    return stamps->stamp(static_cast<CudaQueue &>(where).stream(), number);
  }
  io::Status elapsed(size_t from, size_t to, double &seconds) override {
    return stamps->elapsed(from, to, seconds);
  }
  device::Fence &makeFence() override;
  io::Status combine(device::Queue &queue, device::Combination how, device::Element type,
                     const device::Address *sources, size_t sourceCount, const device::Address *targets,
                     size_t targetCount, int64_t elements) override;
  io::Status clear(device::Queue &queue, device::Address to, size_t bytes) override;
  io::Status reserve(int64_t elements, int64_t bytes) override;
  device::Address room() const override { return received.begin; }
  std::string describeMemory() const override { return card->describeMemory(/*isUsed=*/true); }

private:
  explicit CudaDevice(const CudaDeviceOptions &options) : options(options) {}
  io::Status open();
  /// Memory of at least so many bytes instead of what was there; its content is lost.
  struct Room {
    device::Address begin; ///< 0: none yet
    int64_t bytes = 0;
  };
  io::Status grow(Room &room, int64_t bytes, const char *what);
  io::Status enqueueFill(device::Address to, uint32_t word, size_t bytes);
  Scale scaleOf(const ProductWork &work, const void *scale) const;
  void demand(const io::Status &status) const;

  const CudaDeviceOptions options;
  std::unique_ptr<Gpu> card;
  const Driver *driver = nullptr;
  std::unique_ptr<CudaQueue> queue;
  std::shared_ptr<uint64_t> recordings; ///< how many began or ended: events of before are none of a queue's
  char *staging = nullptr;              ///< pinned: what is read and written goes through it
  uint32_t *progress = nullptr;         ///< pinned: the last mark
  device::Address coordinates;          ///< 0: none yet
  device::Address one;                  ///< an f32 behind them
  std::unique_ptr<Kernels> kernels;
  std::unique_ptr<Products> products;
  std::vector<AttentionWork> attentionList;
  std::optional<StoredPlans> attentionPlans;
  std::unique_ptr<Attentions> attentions; ///< null: not planned
  bool attendsByLibrary = false;
  std::unique_ptr<Combiner> combiner;
  std::unique_ptr<Stamps> stamps;
  std::vector<std::unique_ptr<device::Fence>> fences;
  Room sums, received;
  std::map<uint64_t, float> constants;
  struct HostMemory {
    char *begin;
    size_t bytes;
  };
  std::map<uint64_t, HostMemory> hostMemory; ///< by address: what the host reaches, too
  std::unique_ptr<StepGraphs> stepGraphs;
  bool records = false;
};

} // namespace par::cuda
#endif
