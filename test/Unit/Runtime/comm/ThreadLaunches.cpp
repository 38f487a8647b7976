// Ranks as threads of the test program.
#include "Launches.h"
#include "TinyPackage.h"
#include "comm/local/LocalTransport.h"
#include "comm/process/ProcessWorld.h"

#include <gtest/gtest.h>

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

static void tcpRank(int rank, int size, int port, const std::function<void(Transport &, int)> &body) {
  std::unique_ptr<ProcessWorld> world;
  par::io::Status status = ProcessWorld::overTcp(rank, size, {"127.0.0.1", port, ""}, 60, world);
  ASSERT_TRUE(status.ok()) << status.message();
  status = world->openTransport();
  ASSERT_TRUE(status.ok()) << status.message();
  Control::Events events;
  events.aborted = [&] { world->transport().stop(); };
  events.lost = [](int lost, const std::string &why) { ADD_FAILURE() << "rank " << lost << ": " << why; };
  world->control().listen(events);
  body(world->transport(), rank);
  EXPECT_TRUE(world->control().finish(60, [] { return true; }).ok());
}

/// Each thread stands for a process: they share nothing but the network.
static void launchTcp(int size, const std::function<void(Transport &, int)> &body) {
  int port = par::test::freePort();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { tcpRank(rank, size, port, body); });
  for (std::thread &thread : threads)
    thread.join();
}

const std::vector<NamedLaunch> &launches() {
  static const std::vector<NamedLaunch> list = {{"local", launchLocal, false}, {"tcp", launchTcp, true}};
  return list;
}

TEST(LocalTransport, EmulatedLinkTakesItsTime) {
  // 2 members: each sends 2·4000·1/2 = 4000 bytes, 40 ms at 100 kB/s, and 10 ms of latency.
  LocalWorld world(2, {1e5, 0.01});
  auto body = [&](int rank) {
    std::unique_ptr<Transport> transport = world.connect(rank);
    Group *group = transport->group({0, 1});
    Collective c;
    c.counts = {1000};
    std::vector<float> data(1000, 1);
    void *buffers[2] = {data.data(), data.data()};
    auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(transport->run(*group, c, buffers).ok());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));
    EXPECT_EQ(data[999], 2);
  };
  std::thread other(body, 1);
  body(0);
  other.join();
}

TEST(LocalRoute, MessagesTakeTheTimeOfAnEmulatedLink) {
  // 1000 bytes, 10 ms at 100 kB/s, and 10 ms of latency: the second message ends after the first one.
  LocalWorld world(2, {1e5, 0.01});
  auto body = [&](int rank) {
    std::unique_ptr<Transport> transport = world.connect(rank);
    Route *route = transport->route(1 - rank, rank == 0, 2, 1);
    std::vector<char> data(2000, char(rank));
    void *buffers[2] = {data.data(), data.data() + 1000};
    int64_t bytes = 1000;
    auto begin = std::chrono::steady_clock::now();
    route->post(&buffers[0], &bytes, 1);
    uint64_t second = route->post(&buffers[1], &bytes, 1);
    ASSERT_TRUE(route->wait(second).ok());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(40));
    EXPECT_EQ(data[1999], 0);
  };
  std::thread other(body, 1);
  body(0);
  other.join();
}

TEST(LocalRoute, AbortEndsTheWaitForAnEmulatedLink) {
  LocalWorld world(2, {1e-3, 0}); // 8 bytes take hours
  auto body = [&](int rank) {
    std::unique_ptr<Transport> transport = world.connect(rank);
    Route *route = transport->route(1 - rank, rank == 0, 1, 1);
    int64_t value = rank, bytes = sizeof(value);
    void *buffer = &value;
    EXPECT_FALSE(route->wait(route->post(&buffer, &bytes, 1)).ok());
  };
  std::thread sender(body, 0), receiver(body, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  world.abort();
  sender.join();
  receiver.join();
}
