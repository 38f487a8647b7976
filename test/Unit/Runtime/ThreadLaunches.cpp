// Ranks as threads of the test program.
#include "Launches.h"
#include "comm/local/LocalTransport.h"

#include <thread>

using namespace par::comm;

static void launchLocal(int size, const std::function<void(Transport &, int)> &body) {
  LocalWorld world(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport = world.connect(rank);
      body(*transport, rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

const std::vector<NamedLaunch> &launches() {
  static const std::vector<NamedLaunch> list = {{"local", launchLocal}};
  return list;
}
