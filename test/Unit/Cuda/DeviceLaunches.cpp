#include "DeviceLaunches.h"

#include "comm/local/LocalTransport.h"
#include "comm/nccl/NcclTransport.h"

#include <numeric>
#include <thread>

namespace par::test {

static void onThreads(int size, const std::function<void(int rank)> &body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back(body, rank);
  for (std::thread &thread : threads)
    thread.join();
}

/// All on one GPU.
static void launchLocal(int size, const OnRank &body) {
  comm::LocalWorld world(size);
  onThreads(size, [&](int rank) {
    std::unique_ptr<comm::Transport> transport = world.connect(rank);
    std::unique_ptr<cuda::CudaDevice> device;
    io::Status status = cuda::CudaDevice::make({}, device);
    ASSERT_TRUE(status.ok()) << status.message();
    body(*transport, *device, rank);
  });
}

/// The group of all ranks, and every way of messages.
static std::vector<comm::Division> allDivisions(const std::vector<int> &ranks) {
  std::vector<comm::Division> all;
  if (ranks.size() > 1)
    all.push_back({{0, ranks}});
  for (int from : ranks)
    for (int to : ranks)
      if (from != to)
        all.push_back({{comm::messageChannel, {from, to}}});
  return all;
}

/// Each on a GPU of its own.
static void launchNccl(int size, const OnRank &body) {
  comm::LocalWorld world(size);
  onThreads(size, [&](int rank) {
    std::unique_ptr<comm::Transport> control = world.connect(rank);
    std::unique_ptr<nccl::NcclTransport> transport;
    nccl::NcclTransport::Options options;
    options.rank = rank, options.timeout = 60;
    io::Status status = nccl::NcclTransport::make(*control, options, transport);
    ASSERT_TRUE(status.ok()) << status.message();
    std::unique_ptr<cuda::CudaDevice> device;
    status = cuda::CudaDevice::make({rank, size}, device);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<int> ranks(static_cast<size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    status = transport->connect(*transport->group(ranks, 0), allDivisions(ranks), *device);
    ASSERT_TRUE(status.ok()) << status.message();
    body(*transport, *device, rank);
    transport->leave();
  });
}

const std::vector<DeviceLaunch> &deviceLaunches() {
  static const std::vector<DeviceLaunch> all = {{"local", launchLocal}, {"nccl", launchNccl}};
  return all;
}

OnDevices::OnDevices() {
  environment.set("PAR_STANDIN_DEVICES", "8");
  restart();
}

void OnDevices::draw(int seed) {
  environment.set("PAR_STANDIN_SEED", std::to_string(seed));
  restart();
}

std::string nameOfLaunch(const testing::TestParamInfo<size_t> &info) {
  return deviceLaunches()[info.param].name;
}

} // namespace par::test
