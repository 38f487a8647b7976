// The conformance suite of routes: messages between pairs of ranks, beside collectives. Compiled into every
// program that launches ranks its own way (Launches.h).
#include "HeapCount.h"
#include "Launches.h"

#include "cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>

using namespace par::comm;
using par::device::Address;
using par::device::Queue;

namespace {

class Routes : public testing::TestWithParam<int> {
protected:
  const NamedLaunch &named() const { return launches()[size_t(GetParam())]; }
  /// Each rank with routes that are open.
  void launch(int size, const std::function<void(Transport &, int rank)> &body) const {
    named().launch(size, [&](Transport &transport, int rank) {
      par::io::Status status = transport.openRoutes();
      ASSERT_TRUE(status.ok()) << status.message();
      body(transport, rank);
    });
  }
};

/// False ends the ranks that would wait for this one.
bool isGood(const par::io::Status &status, Transport &transport) {
  if (status.ok())
    return true;
  ADD_FAILURE() << status.message();
  transport.abort();
  return false;
}

void expectParts(const par::io::Status &status, const std::vector<std::string> &parts) {
  EXPECT_FALSE(status.ok());
  for (const std::string &part : parts)
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message() << "\nexpected: " << part;
}

using Sizes = std::vector<int64_t>;

int64_t totalOf(const Sizes &sizes) { return std::accumulate(sizes.begin(), sizes.end(), int64_t(0)); }

/// Byte `i` of a buffer of a message: both ends know it.
char byteOf(int from, uint64_t number, size_t buffer, int64_t i) {
  return char(from * 37 + int64_t(number) * 11 + int64_t(buffer) * 5 + i + i / 251);
}

/// A message with memory of its own. Reading a range that was not received fails.
struct Parcel {
  explicit Parcel(Sizes sizes) : bytes(std::move(sizes)) {
    for (int64_t size : bytes) {
      memory.emplace_back(size_t(size), char(-1));
      pointers.push_back(memory.back().data());
    }
  }
  void fill(int from, uint64_t number) {
    for (size_t b = 0; b < memory.size(); ++b)
      for (int64_t i = 0; i < bytes[b]; ++i)
        memory[b][size_t(i)] = byteOf(from, number, b, i);
  }
  /// False after the first wrong byte.
  bool expectFrom(int from, uint64_t number) const {
    for (size_t b = 0; b < memory.size(); ++b)
      for (int64_t i = 0; i < bytes[b]; ++i)
        if (memory[b][size_t(i)] != byteOf(from, number, b, i)) {
          ADD_FAILURE() << "message " << number << " of rank " << from << ", buffer " << b << ", byte " << i;
          return false;
        }
    return true;
  }
  uint64_t post(Route &route) { return route.post(pointers.data(), bytes.data(), bytes.size()); }

  Sizes bytes;
  std::deque<std::vector<char>> memory;
  std::vector<void *> pointers;
};

/// A message that may not end: its memory is the transport's for as long as the program runs.
Parcel &kept(Parcel parcel) {
  static std::mutex mutex;
  static std::deque<Parcel> &all = *new std::deque<Parcel>;
  std::lock_guard<std::mutex> lock(mutex);
  all.push_back(std::move(parcel));
  return all.back();
}

/// A message that is sent.
Parcel filled(int from, uint64_t number, const Sizes &sizes) {
  Parcel parcel(sizes);
  parcel.fill(from, number);
  return parcel;
}

/// More than sockets keep: such a message ends only when the other end takes it.
constexpr int64_t large = 24 << 20;

const std::vector<Sizes> &manySizes() {
  static const std::vector<Sizes> list = {{1},         {0},         {},  {3, 0, 5}, {0, 0}, {4096, 1, 70000},
                                          {large, 17}, {100000, 0}, {8}, {7, 7, 7}};
  return list;
}

TEST_P(Routes, AnySizesAndBuffersBothWays) {
  launch(2, [&](Transport &transport, int rank) {
    Route &out = *transport.route(1 - rank, true, 1, 3), &in = *transport.route(1 - rank, false, 1, 3);
    uint64_t number = 0, before = transport.handedOver();
    for (const Sizes &sizes : manySizes()) {
      Parcel sent = filled(rank, ++number, sizes), received(sizes);
      EXPECT_EQ(received.post(in), number);
      EXPECT_EQ(sent.post(out), number);
      if (!isGood(in.wait(number), transport) || !isGood(out.wait(number), transport))
        return;
      received.expectFrom(1 - rank, number);
      sent.expectFrom(rank, number);
    }
    uint64_t bytes = 0;
    for (const Sizes &sizes : manySizes())
      bytes += uint64_t(totalOf(sizes));
    EXPECT_EQ(transport.handedOver() - before, bytes);
  });
}

TEST_P(Routes, ReceiversHandNothingOver) {
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 1, 1);
    Parcel parcel = rank == 0 ? filled(0, 1, {5000}) : Parcel({5000});
    uint64_t before = transport.handedOver();
    isGood(route.wait(parcel.post(route)), transport);
    EXPECT_EQ(transport.handedOver() - before, rank == 0 ? 5000u : 0u);
  });
}

/// Posts as many as may be under way at both ends, and waits for the first one first or last.
void exchangeMany(Transport &transport, int rank, Route &out, Route &in, uint64_t &number, int most) {
  std::deque<Parcel> sent, received;
  for (int i = 0; i < most; ++i) {
    Sizes sizes = {int64_t(1) << (2 * i), int64_t(i)};
    sent.push_back(filled(rank, number + uint64_t(i) + 1, sizes));
    received.emplace_back(sizes);
    received.back().post(in);
    sent.back().post(out);
  }
  for (int k = 0; k < most; ++k) {
    int i = rank == 0 ? k : most - 1 - k;
    if (!isGood(in.wait(number + uint64_t(i) + 1), transport) ||
        !isGood(out.wait(number + uint64_t(i) + 1), transport))
      return;
    received[size_t(i)].expectFrom(1 - rank, number + uint64_t(i) + 1);
  }
  number += uint64_t(most);
}

TEST_P(Routes, SeveralAreUnderWay) {
  constexpr int most = 11;
  launch(2, [&](Transport &transport, int rank) {
    Route &out = *transport.route(1 - rank, true, most, 2), &in = *transport.route(1 - rank, false, most, 2);
    uint64_t number = 0;
    for (int round = 0; round < 4; ++round)
      exchangeMany(transport, rank, out, in, number, most);
  });
}

/// Every rank adds one to what it got from the one before it.
void passAround(Transport &transport, int rank, int size, int rounds) {
  Route &out = *transport.route((rank + 1) % size, true, 1, 1);
  Route &in = *transport.route((rank + size - 1) % size, false, 1, 1);
  int64_t token = 0, bytes = sizeof(token);
  void *buffer = &token;
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0 && !isGood(out.wait(out.post(&buffer, &bytes, 1)), transport))
      return;
    if (!isGood(in.wait(in.post(&buffer, &bytes, 1)), transport))
      return;
    ++token;
    if (rank != 0 && !isGood(out.wait(out.post(&buffer, &bytes, 1)), transport))
      return;
  }
  EXPECT_EQ(token, int64_t(rank == 0 ? rounds * size : (rounds - 1) * size + rank));
}

TEST_P(Routes, ATokenGoesAroundARing) {
  for (int size : {3, 4, 7})
    launch(size, [&](Transport &transport, int rank) { passAround(transport, rank, size, 25); });
}

TEST_P(Routes, EveryRankSendsToItsNextAtOnce) {
  constexpr int size = 4;
  launch(size, [&](Transport &transport, int rank) {
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    Route &out = *transport.route(next, true, 2, 1), &in = *transport.route(previous, false, 2, 1);
    for (uint64_t number = 1; number <= 4; ++number) {
      Parcel sent = filled(rank, number, {large / 4}), received({large / 4});
      sent.post(out);
      received.post(in);
      if (!isGood(out.wait(number), transport) || !isGood(in.wait(number), transport))
        return;
      received.expectFrom(previous, number);
    }
  });
}

TEST_P(Routes, PostsInOppositeOrders) {
  // By turns: both send first, both receive first, one of each; waits in the order of posts and against it.
  launch(2, [&](Transport &transport, int rank) {
    Route &out = *transport.route(1 - rank, true, 1, 1), &in = *transport.route(1 - rank, false, 1, 1);
    for (uint64_t number = 1; number <= 8; ++number) {
      Parcel sent = filled(rank, number, {large / 8}), received({large / 8});
      bool sendsFirst = rank == 0 ? number & 1 : number & 2,
           waitsOutFirst = rank == 0 ? number & 4 : number & 1;
      sendsFirst ? sent.post(out) : received.post(in);
      sendsFirst ? received.post(in) : sent.post(out);
      if (!isGood((waitsOutFirst ? out : in).wait(number), transport) ||
          !isGood((waitsOutFirst ? in : out).wait(number), transport))
        return;
      received.expectFrom(1 - rank, number);
    }
  });
}

/// All-reduces on a queue's thread, each of a buffer of its own.
struct Reductions {
  Reductions(Transport &transport, int size, size_t most) : transport(transport), values(most) {
    std::vector<int> ranks(static_cast<size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    group = transport.group(ranks);
    collective.type = Type::i64;
    collective.counts = {3000};
    queue = device.makeQueue(most, {});
    transport.shareCores();
  }
  uint64_t start(int64_t value) {
    std::vector<int64_t> &data = values[started];
    data.assign(3000, value);
    addresses.push_back({device.fromProgram(data.data()), device.fromProgram(data.data())});
    ++started;
    return transport.enqueue(*group, collective, addresses.back().data(), device, *queue);
  }
  bool areAll(size_t index, int64_t wanted) const {
    return std::all_of(values[index].begin(), values[index].end(), [&](int64_t v) { return v == wanted; });
  }

  Transport &transport;
  par::cpu::CpuDevice device{{}};
  std::vector<std::vector<int64_t>> values;
  std::deque<std::vector<Address>> addresses;
  Group *group;
  Collective collective;
  size_t started = 0;
  std::unique_ptr<Queue> queue; ///< last: its thread uses the others
};

TEST_P(Routes, GoOnBesideCollectives) {
  constexpr size_t rounds = 60;
  launch(2, [&](Transport &transport, int rank) {
    Reductions reductions(transport, 2, rounds);
    Route &out = *transport.route(1 - rank, true, 1, 2), &in = *transport.route(1 - rank, false, 1, 2);
    uint64_t last = 0;
    for (uint64_t number = 1; number <= rounds; ++number) {
      last = reductions.start(int64_t(number) + rank);
      Sizes sizes = {int64_t(number) * 977, 3};
      Parcel sent = filled(rank, number, sizes), received(sizes);
      received.post(in);
      sent.post(out);
      if (!isGood(in.wait(number), transport) || !isGood(out.wait(number), transport))
        return;
      received.expectFrom(1 - rank, number);
    }
    isGood(reductions.queue->wait(last), transport);
    for (size_t i = 0; i < rounds; ++i)
      EXPECT_TRUE(reductions.areAll(i, 2 * int64_t(i) + 3)) << "all_reduce " << i;
  });
}

TEST_P(Routes, NeitherMessagesNorCollectivesWaitForEachOther) {
  // Rank 1 comes to the first collective only when it has the message, and sends its own only when the second
  // collective has ended.
  launch(2, [&](Transport &transport, int rank) {
    Reductions reductions(transport, 2, 2);
    Route &out = *transport.route(1 - rank, true, 1, 1), &in = *transport.route(1 - rank, false, 1, 1);
    Parcel sent = filled(rank, 1, {large}), received({large});
    received.post(in);
    uint64_t event = rank == 0 ? reductions.start(1) : 0;
    if (rank == 0) {
      sent.post(out);
      isGood(out.wait(1), transport);
    } else {
      isGood(in.wait(1), transport);
      event = reductions.start(1);
    }
    isGood(reductions.queue->wait(event), transport);
    isGood(reductions.queue->wait(reductions.start(5)), transport);
    if (rank == 1) {
      sent.post(out);
      isGood(out.wait(1), transport);
    } else {
      isGood(in.wait(1), transport);
    }
    received.expectFrom(1 - rank, 1);
    EXPECT_TRUE(reductions.areAll(0, 2) && reductions.areAll(1, 10));
  });
}

TEST_P(Routes, UnequalBytesAreAnError) {
  struct Case {
    Sizes sent, expected;
  };
  for (const Case &one : {Case{{1200, 34}, {1000, 21}}, Case{{40}, {70}}, Case{{0}, {9}}, Case{{8}, {0}},
                          Case{{large}, {large + 64}}, Case{{large + 64}, {large}}})
    launch(2, [&](Transport &transport, int rank) {
      Route &route = *transport.route(1 - rank, rank == 0, 2, 2);
      Parcel &parcel = kept(Parcel(rank == 0 ? one.sent : one.expected));
      uint64_t number = parcel.post(route);
      if (rank == 1) {
        expectParts(route.wait(number), {"rank 0", "rank 1", std::to_string(totalOf(one.sent)) + " bytes",
                                         std::to_string(totalOf(one.expected))});
        transport.abort();
      } else {
        (void)route.wait(number); // what was sent may have ended here; else the receiver's end of it does
      }
    });
}

TEST_P(Routes, EqualBytesInOtherBuffersAreAnError) {
  if (named().name == std::string("tcp"))
    GTEST_SKIP() << "bytes on a connection have no buffers: these arrive";
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 1, 2);
    Parcel &parcel = kept(Parcel(rank == 0 ? Sizes{large, 8} : Sizes{8, large}));
    uint64_t number = parcel.post(route);
    if (rank == 0)
      return (void)route.wait(number);
    expectParts(route.wait(number), {"rank 0", "rank 1", "in other buffers"});
    transport.abort();
  });
}

TEST_P(Routes, MessagesBeforeAnUnequalOneArrive) {
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 2, 1);
    Parcel &first = kept(rank == 0 ? filled(0, 1, {300}) : Parcel({300}));
    Parcel &second = kept(Parcel({rank == 0 ? 16 : 24}));
    first.post(route);
    if (!isGood(route.wait(1), transport))
      return;
    second.post(route);
    if (rank == 0)
      return (void)route.wait(2);
    first.expectFrom(0, 1);
    expectParts(route.wait(2), {"rank 0", "rank 1", "16 bytes", "24"});
    transport.abort();
  });
}

TEST_P(Routes, AbortEndsWaits) {
  for (bool sends : {false, true})
    launch(2, [&](Transport &transport, int rank) {
      Route &route = *transport.route(1 - rank, (rank == 0) == sends, 2, 1);
      Parcel &parcel = kept(Parcel({large})), &later = kept(Parcel({8}));
      if (rank == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return transport.abort();
      }
      expectParts(route.wait(parcel.post(route)), {"the job was ended"});
      expectParts(route.wait(later.post(route)), {"the job was ended"});
    });
}

TEST_P(Routes, AnAbortFromAnotherThreadEndsAWait) {
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 1, 1);
    Parcel &parcel = kept(Parcel({large}));
    if (rank == 0)
      return; // it has nothing to send
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      transport.abort();
    });
    EXPECT_FALSE(route.wait(parcel.post(route)).ok());
    other.join();
  });
}

TEST_P(Routes, MoreThanMayBeUnderWayAreAnError) {
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 2, 1);

    if (rank == 0)
      return; // nothing comes
    for (uint64_t number = 1; number <= 3; ++number)
      EXPECT_EQ(kept(Parcel({8})).post(route), number);
    expectParts(route.wait(1), {"more than 2 messages", "rank 0", "rank 1"});
    transport.abort();
  });
}

TEST_P(Routes, MoreBuffersThanThereIsRoomForAreAnError) {
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 1, 2);
    Parcel &parcel = kept(Parcel({8, 8, 8}));
    if (rank == 1)
      return;
    expectParts(route.wait(parcel.post(route)), {"3 buffers", "2", "rank 0", "rank 1"});
    transport.abort();
  });
}

TEST_P(Routes, WhatWasNotPostedIsNotWaitedFor) {
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 1, 1);
    expectParts(route.wait(1), {"message 1", "was not posted"});
  });
}

TEST_P(Routes, UnmatchedMessagesDoNotHoldUpTheEnd) {
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 1, 1);
    Parcel &parcel = kept(Parcel({64}));
    if (rank == 1)
      parcel.post(route);
  });
}

TEST_P(Routes, NothingIsTakenFromTheHeap) {
  if (!par::test::countsHeap())
    GTEST_SKIP() << "a sanitizer's new is not counted";
  launch(2, [&](Transport &transport, int rank) {
    Route &out = *transport.route(1 - rank, true, 3, 4), &in = *transport.route(1 - rank, false, 3, 4);
    Parcel sent({10, 200000, 0, 7}), received({10, 200000, 0, 7});
    sent.fill(rank, 1);
    uint64_t before = par::test::heapCount();
    bool ended = true;
    for (int i = 0; i < 30 && ended; ++i) {
      uint64_t number = received.post(in);
      sent.post(out);
      ended = in.wait(number).ok() && out.wait(number).ok();
    }
    EXPECT_EQ(par::test::heapCount() - before, 0u);
    EXPECT_TRUE(ended);
    received.expectFrom(1 - rank, 1);
  });
}

TEST(HeapCount, Counts) {
  if (!par::test::countsHeap())
    GTEST_SKIP() << "a sanitizer's new is not counted";
  uint64_t before = par::test::heapCount();
  std::vector<int> some(10);
  EXPECT_EQ(par::test::heapCount() - before, 1u) << some.data();
}

TEST_P(Routes, SurviveRandomDelays) {
  constexpr int size = 3;
  constexpr uint64_t messages = 200;
  launch(size, [&](Transport &transport, int rank) {
    std::mt19937 random(unsigned(rank) + 7);
    auto delay = [&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 4 ? random() % 300 : 0));
    };
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    Route &out = *transport.route(next, true, 2, 2), &in = *transport.route(previous, false, 2, 2);
    std::mt19937 sizesOut(unsigned(rank) + 50), sizesIn(unsigned(previous) + 50);
    auto sizes = [](std::mt19937 &from) { return Sizes{int64_t(from() % 9000), int64_t(from() % 40)}; };
    for (uint64_t number = 1; number <= messages; ++number) {
      Parcel sent = filled(rank, number, sizes(sizesOut)), received(sizes(sizesIn));
      bool sendsFirst = random() % 2;
      delay();
      sendsFirst ? sent.post(out) : received.post(in);
      delay();
      sendsFirst ? received.post(in) : sent.post(out);
      delay();
      if (!isGood(in.wait(number), transport) || !isGood(out.wait(number), transport) ||
          !received.expectFrom(previous, number))
        return;
    }
  });
}

TEST_P(Routes, ARankThatComputesDoesNotHoldUpItsNeighbour) {
  if (named().name == std::string("mpi"))
    GTEST_SKIP() << "MPI moves large messages on where both processes call it";
  std::promise<void> received; // by the memory of this program alone: rank 0 calls nothing of its transport
  std::future<void> isReceived = received.get_future();
  launch(2, [&](Transport &transport, int rank) {
    Route &route = *transport.route(1 - rank, rank == 0, 1, 1);
    Parcel parcel = rank == 0 ? filled(0, 1, {large}) : Parcel({large});
    parcel.post(route);
    if (rank == 0) {
      EXPECT_EQ(isReceived.wait_for(std::chrono::seconds(120)), std::future_status::ready);
      isGood(route.wait(1), transport);
    } else {
      isGood(route.wait(1), transport);
      parcel.expectFrom(0, 1);
      received.set_value();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Runtime, Routes, testing::Range(0, int(launches().size())),
                         [](const auto &info) { return launches()[size_t(info.param)].name; });

} // namespace
