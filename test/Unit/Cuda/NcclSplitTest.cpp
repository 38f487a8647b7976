// Communicators of groups are parts of one of all ranks: who is in them and in which order, and what is said
// where not all come to a split.
#include "NcclRanks.h"

#include <chrono>
#include <thread>

using namespace par;
using namespace par::test;
using namespace par::comm;
using namespace par::nccl;

namespace {

class NcclSplits : public NcclRanks {
protected:
  void expectFound(const std::string &part) {
    std::string found = findings();
    EXPECT_NE(found.find("NCCL: " + part), std::string::npos) << "found:\n" << found;
  }
  static void expectError(const io::Status &status, const std::string &part) {
    EXPECT_NE(status.message().find(part), std::string::npos) << "\"" << status.message() << "\"";
  }
  /// The number of each member of a group, in its order, gathered by all of them.
  static std::vector<int> gathered(OfRank &all, Group &group) {
    Collective what = sum(1, Kind::all_gather);
    auto own = float(all.rank);
    all.device.write(all.memory, &own, 4);
    EXPECT_TRUE(all.transport.prepare(group, what, all.device).ok());
    enqueue(all, group, what, all.device.compute());
    EXPECT_TRUE(finish(all).ok());
    std::vector<float> values(size_t(group.size()), 0.f);
    all.device.read(values.data(), all.memory + 1024, 4 * values.size());
    std::vector<int> ranks;
    for (float value : values)
      ranks.push_back(int(value));
    return ranks;
  }

  static constexpr const char *late = "ncclCommSplit: the other ranks did not come in time";
  const std::vector<Division> oneGroup = {{{0, {0, 1}}}}, twoGroups = {{{0, {0, 1}}}, {{1, {1, 0}}}};
};

/// Several groups at once, in orders of their own; ranks that are in none of a division; a group of all.
TEST_F(NcclSplits, EveryGroupHasItsMembersInItsOrder) {
  const std::vector<Division> divisions = {{{0, {2, 0}}, {0, {1, 3}}},
                                           {{0, {2, 1}}},
                                           {{3, {3, 0}}, {3, {1, 2}}},
                                           {{1, {3, 2, 0, 1}}},
                                           {{messageChannel, {3, 1}}}};
  run(
      [&](OfRank &all) {
        io::Status status = connect(all, divisions);
        ASSERT_TRUE(status.ok()) << status.message();
        for (const Division &division : divisions)
          for (const auto &[channel, ranks] : division)
            if (channel != messageChannel && std::find(ranks.begin(), ranks.end(), all.rank) != ranks.end())
              EXPECT_EQ(gathered(all, *all.transport.group(ranks, channel)), ranks);
      },
      {0, 1, 2, 3});
}

TEST_F(NcclSplits, AGroupThatWasNotConnectedIsTold) {
  run([&](OfRank &all) {
    EXPECT_TRUE(connect(all, oneGroup).ok());
    Group &group = *all.transport.group({0, 1}, 2);
    std::string why = "ranks 0 1 on channel 2 have no communicator of NCCL";
    expectError(all.transport.prepare(group, sum(8), all.device), why);
    expectError(all.device.compute().wait(enqueue(all, group, sum(8), all.device.compute())), why);
    std::unique_ptr<DeviceRoute> route;
    expectError(all.transport.makeRoute(1 - all.rank, all.rank == 0, 1, 1, all.device, route),
                "messages between ranks 0 1 have no communicator of NCCL");
  });
}

/// Nothing of NCCL is begun for ranks that are all alone.
TEST_F(NcclSplits, WithoutGroupsThereIsNoCommunicator) {
  environment.set("PAR_STANDIN_NCCL_FAULT", "init@1:0");
  run([&](OfRank &all) { EXPECT_TRUE(connect(all, {}).ok()); });
}

TEST_F(NcclSplits, ARankThatDoesNotComeIsWaitedForNoLonger) {
  environment.set("PAR_STANDIN_NCCL_FAULT", "init@3:1");
  run([&](OfRank &all) { expectError(connect(all, twoGroups), late); }, {0, 1}, 1);
}

TEST_F(NcclSplits, AnEndedJobIsTold) {
  environment.set("PAR_STANDIN_NCCL_FAULT", "init@2:1");
  run([&](OfRank &all) {
    std::thread ends([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      all.transport.stop();
    });
    EXPECT_EQ(connect(all, oneGroup).message(), "the job was ended");
    ends.join();
  });
}

/// By the call, and by who looks for what breaks on its own.
TEST_F(NcclSplits, AnErrorOfWhatIsSplitIsTold) {
  environment.set("PAR_STANDIN_NCCL_FAULT", "split@2:1");
  run(
      [&](OfRank &all) {
        expectError(connect(all, twoGroups),
                    all.rank == 0 ? late
                                  : "ncclCommSplit: remote process exited or there was a network error");
        for (int i = 0; i < 500 && failures == 0; ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_EQ(failures, 1);
      },
      {0, 1}, 1);
}

TEST_F(NcclSplits, ASplitThatOneRankDoesNotCallIsFound) {
  run([&](OfRank &all) {
    if (all.rank == 0)
      return expectError(connect(all, twoGroups), "ncclCommSplit: invalid usage");
    EXPECT_TRUE(connect(all, oneGroup).ok());
    enqueue(all, *all.transport.group({0, 1}, 0), sum(8), all.device.compute());
    EXPECT_FALSE(finish(all).ok());
  });
  std::string found = findings();
  EXPECT_NE(found.find("NCCL: deadlock: all processes wait for each other; this one is in "),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("ncclCommSplit 2 of a communicator of 2, waits for rank 1"), std::string::npos)
      << found;
}

TEST_F(NcclSplits, ARankThatHasFewerIsFound) {
  run([&](OfRank &all) {
    if (all.rank == 0)
      expectError(connect(all, twoGroups), "ncclCommSplit: invalid usage");
    else
      EXPECT_TRUE(connect(all, oneGroup).ok());
  });
  expectFound("ncclCommSplit 2 of a communicator of 2, waits for rank 1, which has given its communicator "
              "back after 1 splits\n");
}

TEST_F(NcclSplits, AnotherOrderOfSplitsIsFound) {
  run([&](OfRank &all) {
    std::vector<Division> divisions = twoGroups;
    if (all.rank == 1)
      std::swap(divisions[0], divisions[1]);
    expectError(connect(all, divisions), "ncclCommSplit: invalid usage");
  });
  expectFound("ncclCommSplit 1 of a communicator of 2: ranks 0 and 1 both have key 0 of color 0: they split "
              "in another order\n");
}

/// NCCL's functions themselves, called by one thread for two ranks.
class NcclSplitCalls : public NcclSplits {
protected:
  NcclSplitCalls() {
    EXPECT_TRUE(loadNccl(nccl).ok());
    ncclUniqueId id;
    EXPECT_EQ(nccl->ncclGetUniqueId(&id), ncclSuccess);
    for (int rank : {0, 1}) {
      EXPECT_TRUE(cuda::CudaDevice::make({rank, 2}, devices[rank]).ok());
      EXPECT_EQ(nccl->ncclCommInitRankConfig(&all[rank], 2, id, rank, &config), ncclInProgress);
    }
    for (int rank : {0, 1})
      EXPECT_EQ(stateOf(all[rank]), ncclSuccess);
  }
  ~NcclSplitCalls() override {
    for (int rank : {0, 1}) {
      for (ncclComm_t comm : {parts[rank], all[rank]})
        if (comm)
          EXPECT_EQ(nccl->ncclCommAbort(comm), ncclSuccess);
    }
  }
  ncclResult_t stateOf(ncclComm_t comm) {
    ncclResult_t state = ncclInternalError;
    EXPECT_EQ(nccl->ncclCommGetAsyncError(comm, &state), ncclSuccess);
    return state;
  }
  ncclResult_t split(int rank, int color = 0) {
    return nccl->ncclCommSplit(all[rank], color, 0, &parts[rank], &config);
  }

  const Nccl *nccl = nullptr;
  ncclConfig_t config;
  std::unique_ptr<cuda::CudaDevice> devices[2];
  ncclComm_t all[2] = {nullptr, nullptr}, parts[2] = {nullptr, nullptr};
};

TEST_F(NcclSplitCalls, ThePartIsThereWhenAllHaveCome) {
  EXPECT_EQ(split(0, 7), ncclInProgress);
  EXPECT_EQ(stateOf(all[0]), ncclInProgress);
  EXPECT_EQ(parts[0], nullptr);
  EXPECT_EQ(split(1, ncclSplitNoColor), ncclInProgress);
  for (int rank : {0, 1})
    EXPECT_EQ(stateOf(all[rank]), ncclSuccess);
  ASSERT_NE(parts[0], nullptr);
  EXPECT_EQ(parts[1], nullptr);
  EXPECT_EQ(stateOf(parts[0]), ncclSuccess);
}

TEST_F(NcclSplitCalls, OtherColorsAreFound) {
  EXPECT_EQ(split(0, -3), ncclInvalidArgument);
  expectFound("ncclCommSplit with color -3, which is neither from 0 on nor NCCL_SPLIT_NOCOLOR\n");
}

TEST_F(NcclSplitCalls, TwoSplitsAtOnceAreFound) {
  EXPECT_EQ(split(0), ncclInProgress);
  EXPECT_EQ(split(0), ncclInvalidUsage);
  expectFound("ncclCommSplit of a communicator that is being split\n");
}

TEST_F(NcclSplitCalls, ACommunicatorThatGoesWhileItIsSplitIsFound) {
  EXPECT_EQ(split(0), ncclInProgress);
  EXPECT_EQ(nccl->ncclCommFinalize(all[0]), ncclInvalidUsage);
  expectFound("ncclCommFinalize while a split is under way\n");
  EXPECT_EQ(nccl->ncclCommDestroy(all[0]), ncclSuccess);
  all[0] = nullptr;
  expectFound("ncclCommDestroy while a split is under way\n");
}

} // namespace
