//===- MadeOnceTest.cpp - values by keys, for threads ---------------------------------------------------===//
#include "par/Support/MadeOnce.h"
#include "gtest/gtest.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace mlir::par;

namespace {
// Threads that ask for the same keys see the same values, each made by one of them.
TEST(MadeOnceTest, MakesEachValueOnce) {
  constexpr int kKeys = 64, kThreads = 4;
  MadeOnce<int, std::vector<int>> values;
  std::atomic<int> made = 0;
  std::array<std::array<const std::vector<int> *, kKeys>, kThreads> seen{};
  std::vector<std::thread> threads;
  for (auto &mine : seen)
    threads.emplace_back([&] {
      for (int key = 0; key < kKeys; ++key)
        mine[static_cast<size_t>(key)] = &values.get(key, [&](std::vector<int> &value) {
          ++made;
          value.assign(100, key);
        });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, kKeys);
  for (auto &mine : seen)
    for (int key = 0; key < kKeys; ++key) {
      EXPECT_EQ(mine[static_cast<size_t>(key)], seen[0][static_cast<size_t>(key)]);
      EXPECT_EQ(*mine[static_cast<size_t>(key)], std::vector<int>(100, key));
    }
}

// What is made of other values asks for them meanwhile.
TEST(MadeOnceTest, AsksForOthers) {
  MadeOnce<int, int> sums;
  auto get = [&](auto &self, int number) -> int & {
    return sums.get(number, [&](int &sum) { sum = number == 0 ? 0 : number + self(self, number - 1); });
  };
  EXPECT_EQ(get(get, 100), 5050);
}
} // namespace
