// The conformance suite with a process of mpirun per rank: every process runs every test, and the first ones
// are its ranks.
#include "Launches.h"
#include "comm/mpi/MpiMessages.h"
#include "comm/process/ProcessWorld.h"

#include <gtest/gtest.h>

using namespace par::comm;

static int ownRank = 0, processes = 0;

static void launchMpi(int size, const std::function<void(Transport &, int)> &body) {
  if (size > processes)
    GTEST_SKIP() << size << " ranks need more than " << processes << " processes";
  std::unique_ptr<ProcessWorld> world;
  par::io::Status status = ProcessWorld::overMpi(ownRank, size, 60, world);
  ASSERT_TRUE(status.ok()) << status.message();
  if (!world)
    return;
  status = world->openTransport();
  ASSERT_TRUE(status.ok()) << status.message();
  Control::Events events;
  events.aborted = [&] { world->transport().stop(); };
  events.lost = [](int rank, const std::string &why) { FAIL() << "rank " << rank << ": " << why; };
  world->control().listen(events);
  body(world->transport(), ownRank);
  EXPECT_TRUE(world->control().finish(60, [] { return true; }).ok());
}

const std::vector<NamedLaunch> &launches() {
  static const std::vector<NamedLaunch> list = {{"mpi", launchMpi, true}};
  return list;
}

namespace {
/// What other ranks than 0 print.
class FailuresOnly : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult &result) override {
    if (result.failed())
      std::printf("rank %d: %s:%d: %s\n", ownRank, result.file_name() ? result.file_name() : "",
                  result.line_number(), result.message());
  }
};
} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  par::io::Status status = startMpi(ownRank, processes);
  if (!status.ok()) {
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
    return 1;
  }
  testing::TestEventListeners &listeners = testing::UnitTest::GetInstance()->listeners();
  if (ownRank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  int result = RUN_ALL_TESTS();
  stopMpi();
  return result;
}
