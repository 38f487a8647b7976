// What a stage's messages do at run time: the runtime's side of the table in docs/Schedules.md ("Begin and
// wait").
#include "core/Messages.h"
#include "../comm/Launches.h"
#include "cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <deque>
#include <optional>
#include <random>
#include <thread>

using namespace par;
using namespace par::rt;

namespace {

/// Two stages of one rank. The first one sends messages of two kinds, entries 0 and 1 of either's list.
Manifest twoStages() {
  Manifest manifest;
  manifest.worldSize = 2;
  manifest.mesh = {{"pp", 2}};
  manifest.axes = {{"pp", 2, "pp"}};
  for (int stage = 0; stage < 2; ++stage) {
    Program program;
    program.ranks = {{0, {stage}}};
    for (const char *what : {"activation of chunk 0", "activation of chunk 2"})
      program.messages.push_back({stage == 0, 1 - stage, {4}, what, 1});
    manifest.programs.push_back(program);
  }
  return manifest;
}

/// The messages of one stage, whose buffers are single numbers.
class Stage {
public:
  Stage(const Manifest &manifest, comm::Transport &transport, int rank)
      : messages(manifest, rank, transport, device) {}

  bool start(size_t kind, float &number) {
    void *buffer = &number;
    return isGood(messages.start(kind, &buffer));
  }
  bool wait(size_t kind) { return isGood(messages.wait(kind)); }

  cpu::CpuDevice device{{1, /*poison=*/true, 0}};
  Messages messages;
  std::string problem;

private:
  bool isGood(const io::Status &status) {
    if (!status.ok())
      problem = status.message();
    return status.ok();
  }
};

class Begun : public testing::TestWithParam<int> {
protected:
  void launch(const std::function<void(Stage &, int rank)> &body) const {
    Manifest manifest = twoStages();
    launches()[size_t(GetParam())].launch(2, [&](comm::Transport &transport, int rank) {
      io::Status status = transport.openRoutes();
      ASSERT_TRUE(status.ok()) << status.message();
      Stage stage(manifest, transport, rank);
      body(stage, rank);
      EXPECT_EQ(stage.problem, "");
    });
  }
};

/// Pauses until the other rank has come to a place, so that what it does not wait for is seen.
void waitUntil(const std::atomic<bool> &there) {
  while (!there)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Three begin and one is waited for: the first one is there, and each further wait brings the next.
TEST_P(Begun, AWaitEndsTheOldest) {
  launch([](Stage &stage, int rank) {
    float numbers[3] = {10, 20, 30};
    if (rank == 1)
      std::fill(numbers, numbers + 3, 0.0f);
    for (float &number : numbers)
      ASSERT_TRUE(stage.start(0, number));
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(stage.wait(0)) << stage.problem;
      EXPECT_EQ(numbers[i], float(10 * (i + 1)));
      EXPECT_EQ(stage.messages.isUnderWay(0), i < 2);
    }
  });
}

/// The first wait returns though the second message has not been sent yet: it is for the first one.
TEST_P(Begun, AWaitIsForNoLaterMessage) {
  std::atomic<bool> received{false};
  launch([&](Stage &stage, int rank) {
    float first = 1, second = 2;
    if (rank == 0) {
      ASSERT_TRUE(stage.start(0, first));
      waitUntil(received);
      ASSERT_TRUE(stage.start(0, second));
    } else {
      first = second = 0;
      ASSERT_TRUE(stage.start(0, first));
      ASSERT_TRUE(stage.start(0, second));
      ASSERT_TRUE(stage.wait(0)) << stage.problem;
      EXPECT_EQ(first, 1);
      received = true;
    }
    while (stage.messages.isUnderWay(0))
      ASSERT_TRUE(stage.wait(0)) << stage.problem;
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
  });
}

/// The oldest of its kind, not of the route: a wait for one kind leaves the other under way, in whatever
/// order.
TEST_P(Begun, KindsAreWaitedForApart) {
  launch([](Stage &stage, int rank) {
    float a[2] = {1, 2}, b[2] = {3, 4};
    if (rank == 1)
      a[0] = a[1] = b[0] = b[1] = 0;
    ASSERT_TRUE(stage.start(0, a[0]) && stage.start(1, b[0]) && stage.start(1, b[1]) && stage.start(0, a[1]));
    ASSERT_TRUE(stage.wait(1)) << stage.problem;
    EXPECT_EQ(b[0], 3);
    EXPECT_TRUE(stage.messages.isUnderWay(0) && stage.messages.isUnderWay(1));
    ASSERT_TRUE(stage.wait(0) && stage.wait(0)) << stage.problem;
    EXPECT_EQ(a[0], 1);
    EXPECT_EQ(a[1], 2);
    EXPECT_TRUE(!stage.messages.isUnderWay(0) && stage.messages.isUnderWay(1));
    ASSERT_TRUE(stage.wait(1)) << stage.problem;
    EXPECT_EQ(b[1], 4);
  });
}

/// Number n that the sender begins is number n of the receiver, whatever entries of their lists they are.
TEST_P(Begun, EndsPairUp) {
  launch([](Stage &stage, int rank) {
    float first = 1, second = 2;
    if (rank == 1)
      first = second = 0;
    size_t kinds[2] = {size_t(rank), size_t(1 - rank)};
    ASSERT_TRUE(stage.start(kinds[0], first) && stage.start(kinds[1], second));
    ASSERT_TRUE(stage.wait(kinds[1]) && stage.wait(kinds[0])) << stage.problem;
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
  });
}

/// What is received means nothing from the beginning on, and what is sent stays the rank's to read.
TEST_P(Begun, WhatIsReceivedIsDiscarded) {
  std::atomic<bool> looked{false};
  launch([&](Stage &stage, int rank) {
    float number = 7;
    if (rank == 0)
      waitUntil(looked);
    ASSERT_TRUE(stage.start(0, number));
    EXPECT_EQ(std::isnan(number), rank == 1);
    looked = true;
    ASSERT_TRUE(stage.wait(0)) << stage.problem;
    EXPECT_EQ(number, 7);
  });
}

/// The sender writes over what it has waited for, and the receiver begins later: what comes is what was sent.
TEST_P(Begun, WhatIsSentStaysUntilItsWait) {
  launch([&](Stage &stage, int rank) {
    for (int i = 1; i <= 20; ++i) {
      float number = rank == 0 ? float(i) : 0;
      if (rank == 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ASSERT_TRUE(stage.start(0, number) && stage.wait(0)) << stage.problem;
      if (rank == 1)
        EXPECT_EQ(number, float(i));
      number = -1;
    }
  });
}

/// A list that the verifier has passed has no such wait; the runtime answers it all the same.
TEST_P(Begun, AWaitForNothingIsAnError) {
  launch([](Stage &stage, int) {
    EXPECT_FALSE(stage.wait(1));
    EXPECT_EQ(stage.problem,
              "waits for activation of chunk 2, of which none has begun; compile the package again");
    stage.problem.clear();
    float number = 5;
    ASSERT_TRUE(stage.start(1, number) && stage.wait(1)) << stage.problem;
    EXPECT_FALSE(stage.wait(1));
    stage.problem.clear();
  });
}

/// One kind has as many under way as the compiler lets it have, and not one more.
TEST_P(Begun, AsManyAreUnderWayAsTheListMayHave) {
  launch([](Stage &stage, int rank) {
    std::vector<float> numbers(par_most_messages_under_way + 1, rank == 0 ? 9.0f : 0.0f);
    for (size_t i = 0; i < par_most_messages_under_way; ++i)
      ASSERT_TRUE(stage.start(0, numbers[i])) << stage.problem;
    EXPECT_FALSE(stage.start(0, numbers.back()));
    EXPECT_NE(stage.problem.find("more than 1024 messages"), std::string::npos) << stage.problem;
    stage.problem.clear();
    for (size_t i = 0; i < par_most_messages_under_way; ++i) {
      ASSERT_TRUE(stage.wait(0)) << stage.problem;
      ASSERT_EQ(numbers[i], 9);
    }
  });
}

/// The bytes of a step are those of the sends that began in it.
TEST_P(Begun, SendsAreCountedWhenTheyBegin) {
  launch([](Stage &stage, int rank) {
    float numbers[2] = {1, 2};
    ASSERT_TRUE(stage.start(0, numbers[0]) && stage.start(1, numbers[1]));
    std::map<std::string, uint64_t> bytes;
    stage.messages.addTraffic(bytes);
    EXPECT_EQ(bytes, rank == 0 ? (std::map<std::string, uint64_t>{{"send:pp", 8}}) : decltype(bytes)());
    ASSERT_TRUE(stage.wait(0) && stage.wait(1)) << stage.problem;
  });
}

/// In any order of beginnings and waits, however far the ring has gone round, and from any room on.
TEST(BegunMessages, AreAQueue) {
  std::mt19937 random(3);
  for (size_t room : {0, 1, 4, 50}) {
    par_begun_messages<int> messages(room);
    std::deque<int> expected;
    for (int i = 0; i < 3000; ++i) {
      if (random() % 5 < 3 && expected.size() < par_most_messages_under_way) {
        EXPECT_TRUE(messages.begin(i));
        expected.push_back(i);
      } else if (random() % 20 != 0) {
        EXPECT_EQ(messages.end(), expected.empty() ? std::nullopt : std::optional<int>(expected.front()));
        if (!expected.empty())
          expected.pop_front();
      } else {
        for (; !expected.empty(); expected.pop_front())
          EXPECT_EQ(messages.end(), expected.front());
        EXPECT_EQ(messages.end(), std::nullopt);
      }
      ASSERT_EQ(messages.size(), expected.size());
      ASSERT_EQ(messages.oldest(), expected.empty() ? std::nullopt : std::optional<int>(expected.front()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Runtime, Begun, testing::Range(0, int(launches().size())),
                         [](const auto &info) { return launches()[size_t(info.param)].name; });

} // namespace
