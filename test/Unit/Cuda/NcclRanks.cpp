#include "NcclRanks.h"

#include "comm/local/LocalTransport.h"

#include <numeric>
#include <thread>

namespace par::test {

using namespace comm;
using device::Address;

NcclRanks::NcclRanks() {
  environment.set("PAR_STANDIN_DEVICES", "8");
  restart();
}

void NcclRanks::run(const std::function<void(OfRank &)> &body, const std::vector<int> &gpus, double timeout) {
  int ranks = int(gpus.size());
  LocalWorld world(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> control = world.connect(rank);
      std::unique_ptr<nccl::NcclTransport> transport;
      nccl::NcclTransport::Options options;
      options.rank = rank, options.timeout = timeout;
      options.failed = [this](const std::string &) { ++failures; };
      ASSERT_TRUE(nccl::NcclTransport::make(*control, options, transport).ok());
      std::unique_ptr<cuda::CudaDevice> device;
      ASSERT_TRUE(cuda::CudaDevice::make({gpus[size_t(rank)], ranks}, device).ok());
      device::Memory memory;
      ASSERT_TRUE(memory.allocate(*device, device::Space::device, 4096));
      device->fill(memory.begin(), 0x3F800000, 4096);
      OfRank all{*transport, *device, rank, ranks, memory.begin()};
      body(all);
      transport->leave();
    });
  for (std::thread &thread : threads)
    thread.join();
}

io::Status NcclRanks::connect(OfRank &all, const std::vector<Division> &divisions) {
  std::vector<int> ranks(size_t(all.ranks), 0);
  std::iota(ranks.begin(), ranks.end(), 0);
  return all.transport.connect(*all.transport.group(ranks, 0), divisions, all.device);
}

Collective NcclRanks::sum(int64_t count, Kind kind) {
  Collective what;
  what.kind = kind, what.counts = {count};
  return what;
}

uint64_t NcclRanks::enqueue(OfRank &all, Group &group, const Collective &what, device::Queue &queue,
                            int64_t offset) {
  Address buffers[2] = {all.memory + offset, all.memory + (offset + 1024)};
  return all.transport.enqueue(group, what, buffers, all.device, queue, nullptr);
}

io::Status NcclRanks::finish(OfRank &all) { return all.device.compute().wait(all.device.compute().record()); }

} // namespace par::test
