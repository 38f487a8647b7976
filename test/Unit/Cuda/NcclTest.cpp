// NCCL's calls of ranks that are threads with a GPU each: what is wrong between them is told, and nothing
// hangs.
#include "NcclRanks.h"

#include <chrono>

using namespace par;
using namespace par::test;
using namespace par::comm;
using device::Address;

namespace {

class NcclFinds : public NcclRanks {
protected:
  /// Two channels, and messages.
  static Group &groupOf(OfRank &all, int channel = 0) {
    io::Status status = connect(all, {{{0, {0, 1}}}, {{1, {0, 1}}}, {{messageChannel, {0, 1}}}});
    EXPECT_TRUE(status.ok()) << status.message();
    return *all.transport.group({0, 1}, channel);
  }
};

TEST_F(NcclFinds, DifferentCollectives) {
  run([&](OfRank &all) {
    Group &group = groupOf(all);
    Collective what = sum(8, all.rank == 0 ? Kind::all_reduce : Kind::all_gather);
    enqueue(all, group, what, all.device.compute());
    EXPECT_FALSE(finish(all).ok());
  });
  std::string found = findings();
  EXPECT_NE(found.find("NCCL: call 1: rank "), std::string::npos) << found;
  EXPECT_NE(found.find("ncclAllGather of 8 x 4 bytes"), std::string::npos) << found;
}

TEST_F(NcclFinds, DifferentCounts) {
  run([&](OfRank &all) {
    Group &group = groupOf(all);
    enqueue(all, group, sum(8), all.device.compute());
    enqueue(all, group, sum(all.rank == 0 ? 8 : 16), all.device.compute());
    EXPECT_FALSE(finish(all).ok());
  });
  std::string found = findings();
  EXPECT_NE(found.find("NCCL: call 2: rank "), std::string::npos) << found;
}

/// Two communicators in another order on each rank: on a GPU that may hang, or not.
TEST_F(NcclFinds, AnotherOrderOfCommunicators) {
  run([&](OfRank &all) {
    Group &first = groupOf(all), &second = groupOf(all, 1);
    std::unique_ptr<device::Queue> one = all.device.makeQueue(4, {}), two = all.device.makeQueue(4, {});
    Collective what = sum(8);
    if (all.rank == 0) {
      enqueue(all, first, what, *one);
      enqueue(all, second, what, *one, 64);
      EXPECT_FALSE(one->wait(one->record()).ok());
    } else {
      enqueue(all, second, what, *two, 64);
      enqueue(all, first, what, *two);
      EXPECT_FALSE(two->wait(two->record()).ok());
    }
    all.transport.stop();
  });
  std::string found = findings();
  EXPECT_NE(
      found.find(
          "NCCL: deadlock: all processes wait for each other; this one is in ncclAllReduce of 8 x 4 bytes"),
      std::string::npos)
      << found;
}

/// The same where no stream orders them: GPUs with room for both do not hang, others do.
TEST_F(NcclFinds, AnotherOrderOnTwoQueues) {
  std::string found;
  auto isFound = [&] { return found.find("behind another collective of the GPU") != std::string::npos; };
  for (int seed = 1; !isFound() && seed <= 12; ++seed) {
    environment.set("PAR_STANDIN_SEED", std::to_string(seed));
    restart();
    run([&](OfRank &all) {
      Group *groups[2] = {&groupOf(all), &groupOf(all, 1)};
      std::unique_ptr<device::Queue> queues[2] = {all.device.makeQueue(4, {}), all.device.makeQueue(4, {})};
      Collective what = sum(8);
      for (int number : {all.rank, 1 - all.rank})
        enqueue(all, *groups[number], what, *queues[number], 64 * number);
      for (auto &queue : queues)
        (void)queue->wait(queue->record());
      all.transport.stop();
    });
    found += findings(); // of its words in pinned memory, too: a rank has one queue for all collectives
  }
  EXPECT_TRUE(isFound()) << found;
}

TEST_F(NcclFinds, MessagesOfOtherSizes) {
  run([&](OfRank &all) {
    groupOf(all);
    std::unique_ptr<DeviceRoute> route;
    ASSERT_TRUE(all.transport.makeRoute(1 - all.rank, all.rank == 0, 1, 1, all.device, route).ok());
    uint64_t number = 0;
    int64_t bytes = all.rank == 0 ? 64 : 60;
    EXPECT_FALSE(route->post(&all.memory, &bytes, 1, number).ok() && route->await(number).ok() &&
                 finish(all).ok());
  });
  std::string found = findings();
  EXPECT_NE(found.find("NCCL: rank 0 sends 64 bytes to rank 1, which expects 60"), std::string::npos)
      << found;
}

TEST_F(NcclFinds, TwoRanksOnOneGpu) {
  run(
      [&](OfRank &all) {
        EXPECT_NE(connect(all, {{{0, {0, 1}}}}).message().find("invalid usage"), std::string::npos);
      },
      {2, 2});
  EXPECT_NE(findings().find("NCCL: duplicate GPU: ranks 0 and 1 of a communicator both have GPU 2"),
            std::string::npos);
}

/// What is received is read before its event.
TEST_F(NcclFinds, AResultThatIsNotWaitedFor) {
  run([&](OfRank &all) {
    Group &group = groupOf(all);
    std::unique_ptr<device::Queue> beside = all.device.makeQueue(4, {});
    Collective what = sum(8);
    EXPECT_TRUE(beside->await(all.device.compute(), all.device.compute().record()).ok());
    enqueue(all, group, what, *beside);
    all.device.copy(all.device.compute(), all.memory + 2048, all.memory + 1024, 32);
    EXPECT_TRUE(beside->wait(beside->record()).ok());
    EXPECT_TRUE(finish(all).ok());
  });
  std::string found = findings();
  EXPECT_NE(found.find("no event orders them"), std::string::npos) << found;
}

TEST_F(NcclFinds, AnErrorOfACommunicator) {
  environment.set("PAR_STANDIN_NCCL_FAULT", "error@1:1");
  run([&](OfRank &all) {
    Group &group = groupOf(all);
    Collective what = sum(8);
    enqueue(all, group, what, all.device.compute());
    for (int i = 0; i < 500 && failures == 0; ++i) {
      all.device.compute().happened(all.device.compute().record());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(failures, 1);
    EXPECT_NE(all.transport.flightRecord().find(": collective 1: all_reduce of 32 bytes: started"),
              std::string::npos)
        << all.transport.flightRecord();
    all.transport.stop();
    (void)finish(all);
  });
  (void)findings();
}

TEST_F(NcclFinds, ACommunicatorThatDoesNotComeTogether) {
  environment.set("PAR_STANDIN_NCCL_FAULT", "init@1:1");
  run(
      [&](OfRank &all) {
        io::Status status = connect(all, {{{0, {0, 1}}}});
        if (all.rank == 1)
          EXPECT_NE(status.message().find("the other ranks did not come in time"), std::string::npos)
              << status.message();
      },
      {0, 1}, 1);
}

/// Who ends the job ends what waits for it.
TEST_F(NcclFinds, AnEndedJobIsTold) {
  run([&](OfRank &all) {
    Group &group = groupOf(all);
    all.transport.stop();
    EXPECT_EQ(all.device.compute().wait(enqueue(all, group, sum(8), all.device.compute())).message(),
              "the job was ended");
  });
}

TEST_F(NcclFinds, WordsThatAreNoFault) {
  environment.set("PAR_STANDIN_NCCL_FAULT", "error@1");
  run([&](OfRank &all) { groupOf(all); });
  EXPECT_EQ(findings(),
            "NCCL: PAR_STANDIN_NCCL_FAULT is \"error@1\", expected error@N:GPU, stall@N:GPU, init@N:GPU or "
            "split@N:GPU\n");
}

/// A schedule that calls a test.
struct StepContext : device::Context {
  std::function<void()> body;
};
void runBody(par_context *context) {
  static_cast<StepContext *>(static_cast<device::Context *>(context))->body();
}

/// Recorded at the second time and launched ever after: nothing of NCCL is left out of the graph.
TEST_F(NcclFinds, StepsWithCollectivesAndMessagesAreRecorded) {
  run([&](OfRank &all) {
    Group &group = groupOf(all);
    device::Queue &compute = all.device.compute();
    std::unique_ptr<device::Queue> beside = all.device.makeQueue(4, {});
    std::unique_ptr<DeviceRoute> route;
    ASSERT_TRUE(all.transport.makeRoute(1 - all.rank, all.rank == 0, 1, 1, all.device, route).ok());
    Collective what = sum(8);
    Address buffers[2] = {all.memory, all.memory}, sent = all.rank == 0 ? all.memory : all.memory + 512;
    int calls = 0;
    StepContext context;
    context.body = [&] {
      ++calls;
      EXPECT_TRUE(beside->await(compute, compute.record()).ok());
      uint64_t event = all.transport.enqueue(group, what, buffers, all.device, *beside, nullptr);
      EXPECT_TRUE(compute.await(*beside, event).ok());
      uint64_t number = 0;
      int64_t bytes = 32;
      EXPECT_TRUE(route->post(&sent, &bytes, 1, number).ok());
      EXPECT_TRUE(route->await(number).ok());
    };
    all.device.setRecords(true);
    for (int round = 1; round <= 5; ++round) {
      all.device.launch(runBody, context);
      EXPECT_TRUE(all.device.finish([](int32_t) {}).ok());
      EXPECT_EQ(calls, std::min(round, 2));
      float value = 0;
      all.device.read(&value, sent + 28, 4);
      EXPECT_EQ(value, float(1 << round));
    }
    EXPECT_EQ(all.device.recordedNodes(runBody), 6u); // a sum and a message, between two words each
    EXPECT_NE(all.transport.flightRecord().find(": collective 2: all_reduce of 32 bytes: done\n"),
              std::string::npos)
        << all.transport.flightRecord();
    route.reset();
  });
}

/// An operation that has ended, and one that has not.
TEST_F(NcclFinds, TheRecordOfAFlight) {
  run([&](OfRank &all) {
    Group &group = groupOf(all);
    enqueue(all, group, sum(8), all.device.compute());
    EXPECT_TRUE(finish(all).ok());
    std::string before =
        "nccl: rank " + std::to_string(all.rank) + ": collective 1: all_reduce of 32 bytes: done\n";
    EXPECT_EQ(all.transport.flightRecord(), before);
    EXPECT_TRUE(all.transport.barrier(group).ok());
    if (all.rank == 0) {
      enqueue(all, group, sum(16), all.device.compute());
      EXPECT_EQ(all.transport.flightRecord(),
                before + "nccl: rank 0: collective 2: all_reduce of 64 bytes: enqueued\n");
    }
    EXPECT_TRUE(all.transport.barrier(group).ok());
    if (all.rank == 1)
      enqueue(all, group, sum(16), all.device.compute());
    EXPECT_TRUE(finish(all).ok());
  });
}

} // namespace
