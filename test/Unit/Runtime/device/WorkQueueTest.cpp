// Work beside computation.
#include "device/WorkQueue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

using namespace par::device;

namespace {

/// Late, so that what does not wait sees old values.
QueueHooks late() {
  return {nullptr, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }};
}

uint64_t copy(Queue &queue, int &to, const int &from) {
  return queue.enqueue([target = &to, source = &from] {
    *target = *source;
    return par::io::Status();
  });
}

uint64_t fail(Queue &queue) {
  return queue.enqueue([] { return par::io::Status::error("broken"); });
}

TEST(WorkQueue, WhatIsWaitedForIsDone) {
  WorkQueue queue(4, late());
  int from = 7, to = 0;
  uint64_t event = copy(queue, to, from);
  EXPECT_TRUE(queue.wait(event).ok());
  EXPECT_TRUE(queue.happened(event));
  EXPECT_EQ(to, 7);
}

/// What it prepares (a stack for crashes) must not be taken from the heap while a step runs.
TEST(WorkQueue, IsPreparedWhenItIsMade) {
  bool prepared = false;
  auto prepare = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    prepared = true;
  };
  WorkQueue queue(1, {prepare, nullptr});
  EXPECT_TRUE(prepared);
}

TEST(WorkQueue, KeepsItsOrder) {
  WorkQueue queue(4, late());
  int a = 1, b = 2, c = 3;
  copy(queue, b, a);
  uint64_t last = copy(queue, c, b); // what the first one brought
  EXPECT_EQ(queue.record(), last);
  EXPECT_TRUE(queue.wait(last).ok());
  EXPECT_EQ(c, 1);
  EXPECT_TRUE(queue.wait(1).ok()); // has long ended
}

TEST(WorkQueue, MoreThanFitWait) {
  WorkQueue queue(2, late());
  std::vector<int> from(20), to(20, -1);
  std::iota(from.begin(), from.end(), 0);
  uint64_t last = 0;
  for (size_t i = 0; i < from.size(); ++i)
    last = copy(queue, to[i], from[i]);
  EXPECT_TRUE(queue.wait(last).ok());
  EXPECT_EQ(to, from);
}

TEST(WorkQueue, EndsWhatIsUnderWay) {
  int from = 7, to[3] = {0, 0, 0};
  {
    WorkQueue queue(4, late());
    for (int &one : to)
      copy(queue, one, from);
  }
  for (int one : to)
    EXPECT_EQ(one, 7);
}

TEST(WorkQueue, NothingRunsAfterAFailure) {
  WorkQueue queue(2, late());
  int from = 7, before = 0, behind = 0;
  uint64_t good = copy(queue, before, from), bad = fail(queue), last = 0;
  for (int i = 0; i < 5; ++i) // more than fit: room is not waited for
    last = copy(queue, behind, from);
  EXPECT_EQ(queue.wait(last).message(), "broken");
  EXPECT_EQ(queue.wait(bad).message(), "broken");
  EXPECT_TRUE(queue.wait(good).ok());
  EXPECT_FALSE(queue.happened(bad));
  EXPECT_EQ(before, 7);
  EXPECT_EQ(behind, 0);
}

TEST(WorkQueue, WaitsForAnother) {
  WorkQueue slow(2, {nullptr, [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }}), queue(4);
  int a = 1, b = 2, c = 3;
  EXPECT_TRUE(queue.await(slow, copy(slow, b, a)).ok());
  EXPECT_TRUE(queue.wait(copy(queue, c, b)).ok());
  EXPECT_EQ(c, 1);
}

TEST(WorkQueue, AFailureGoesOnToWhoWaits) {
  WorkQueue slow(2, late()), queue(4);
  int a = 1, b = 2;
  EXPECT_TRUE(queue.await(slow, fail(slow)).ok()); // unknown as yet
  EXPECT_EQ(queue.wait(copy(queue, b, a)).message(), "broken");
  EXPECT_EQ(b, 2);
}

TEST(InlineQueue, WorksAtOnce) {
  InlineQueue queue;
  WorkQueue slow(2, late());
  int a = 1, b = 2, c = 3;
  EXPECT_EQ(copy(queue, b, a), 1u);
  EXPECT_EQ(b, 1);
  EXPECT_TRUE(queue.happened(queue.record()));
  EXPECT_TRUE(queue.await(slow, copy(slow, c, a)).ok());
  EXPECT_EQ(c, 1);
  EXPECT_EQ(queue.await(slow, fail(slow)).message(), "broken"); // known by then: it waits
  EXPECT_EQ(queue.wait(fail(queue)).message(), "broken");
  copy(queue, a, c = 5);
  EXPECT_EQ(a, 1);
}

} // namespace
