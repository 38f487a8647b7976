// Copies beside computation.
#include "core/TransferThread.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>

using par::rt::TransferThread;

namespace {

/// Late, so that what does not wait sees old bytes.
TransferThread::Hooks late() {
  return {nullptr, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }};
}

TEST(TransferThread, WhatIsWaitedForIsThere) {
  TransferThread thread(4, late());
  std::vector<int> from(1000), to(1000, -1);
  std::iota(from.begin(), from.end(), 0);
  thread.wait(thread.start(to.data(), from.data(), from.size() * sizeof(int)));
  EXPECT_EQ(to, from);
}

/// What it prepares (a stack for crashes) must not be taken from the heap while a step runs.
TEST(TransferThread, IsPreparedWhenItIsMade) {
  bool prepared = false;
  auto prepare = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    prepared = true;
  };
  TransferThread thread(1, {prepare, nullptr});
  EXPECT_TRUE(prepared);
}

TEST(TransferThread, CopiesKeepTheirOrder) {
  TransferThread thread(4, late());
  int a = 1, b = 2, c = 3;
  thread.start(&b, &a, sizeof(int));
  uint64_t last = thread.start(&c, &b, sizeof(int)); // what the first one brought
  thread.wait(last);
  EXPECT_EQ(c, 1);
  thread.wait(1); // has long ended
}

TEST(TransferThread, MoreThanFitWait) {
  TransferThread thread(2, late());
  std::vector<int> from(20), to(20, -1);
  std::iota(from.begin(), from.end(), 0);
  uint64_t last = 0;
  for (size_t i = 0; i < from.size(); ++i)
    last = thread.start(&to[i], &from[i], sizeof(int));
  thread.wait(last);
  EXPECT_EQ(to, from);
}

TEST(TransferThread, EndsWhatIsUnderWay) {
  int from = 7, to[3] = {0, 0, 0};
  {
    TransferThread thread(4, late());
    for (int &one : to)
      thread.start(&one, &from, sizeof(int));
  }
  for (int one : to)
    EXPECT_EQ(one, 7);
}

} // namespace
