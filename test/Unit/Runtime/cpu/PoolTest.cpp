// The threads that a rank's kernels share: every part runs once, on a fixed thread, and is done when `run`
// returns.
#include "cpu/Pool.h"
#include "cpu/Context.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace par::cpu;

TEST(Pool, EveryPartOnce) {
  for (int threads : {1, 2, 3, 5}) {
    Pool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    std::vector<int> times(threads, 0);
    for (int round = 0; round < 2000; ++round)
      runParts(&pool, threads, [&](int64_t part, int64_t parts) {
        EXPECT_EQ(parts, threads);
        ++times[size_t(part)]; // not atomic: `run` orders the rounds
      });
    for (int each : times)
      EXPECT_EQ(each, 2000);
  }
}

TEST(Pool, FewerPartsThanThreads) {
  Pool pool(4);
  std::vector<int> times(4, 0);
  for (int round = 0; round < 100; ++round) {
    runParts(&pool, 2, [&](int64_t part, int64_t parts) {
      EXPECT_EQ(parts, 2);
      ++times[size_t(part)];
    });
    runParts(&pool, 99, [&](int64_t part, int64_t) { ++times[size_t(part)]; });
  }
  EXPECT_EQ(times, (std::vector<int>{200, 200, 100, 100}));
}

// Items of very different size: each once, whoever takes it; also fewer items than threads, and none.
TEST(Pool, EveryItemOnce) {
  Pool pool(3);
  for (int64_t count : {0, 1, 2, 100})
    for (Pool *each : {&pool, static_cast<Pool *>(nullptr)}) {
      std::vector<int> times(size_t(count), 0);
      for (int round = 0; round < 50; ++round)
        runItems(each, count, [&](int64_t item) {
          for (volatile int64_t i = 0; i < item * 20; ++i) {
          }
          ++times[size_t(item)]; // not atomic: one thread has the item, and `run` orders the rounds
        });
      EXPECT_EQ(times, std::vector<int>(size_t(count), 50));
    }
}

TEST(Pool, SleepsAndWakes) {
  Pool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // longer than the threads stay awake
    std::vector<std::thread::id> ids(3);
    runParts(&pool, 3, [&](int64_t part, int64_t) { ids[size_t(part)] = std::this_thread::get_id(); });
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_NE(ids[1], ids[2]);
  }
}

TEST(Pool, ProductsDoNotDependOnTheCut) {
  // Small whole numbers: every order of summation gives the same.
  const int64_t m = 130, n = 97, k = 70;
  std::vector<float> a(m * k), b(m * k), once(m * n), shared(m * n);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = float(int(i * 7 % 13) - 6);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = float(int(i * 5 % 11) - 5);
  CpuDevice device({3});
  for (int transposed = 0; transposed < 4; ++transposed)
    for (bool wide : {false, true}) {
      int64_t rows = wide ? n : m, columns = wide ? m : n;
      int32_t ta = transposed & 1, tb = transposed >> 1;
      par::device::Context alone, together;
      together.device = &device;
      for (auto [context, c] : {std::pair{&alone, &once}, std::pair{&together, &shared}})
        par_gemm(static_cast<par_context *>(context), ta, tb, rows, columns, k, a.data(), ta ? rows : k, 0,
                 b.data(), tb ? k : columns, 0, 0.0f, c->data(), c->data(), columns, 0, 1);
      EXPECT_EQ(once, shared) << transposed << wide;
    }
}
