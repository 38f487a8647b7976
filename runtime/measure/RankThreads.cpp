#include "measure/RankThreads.h"
#include "comm/local/LocalTransport.h"
#include "measure/Measure.h"
#include "par/io/Threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>

namespace par::measure {

using Clock = std::chrono::steady_clock;

namespace {
/// The loops of all ranks. The first one says how many runs a loop has.
class RankLoops {
public:
  RankLoops(int ranks, const MakeRankWork &make) : world(ranks), make(make), size(ranks) {}

  double measure(const std::function<void()> &beside) {
    isEnough = !beside;
    io::Threads threads;
    if (io::Status started = startRanks(threads); !started.ok())
      fail(started);
    else if (beside) {
      beside();
      isEnough = true;
    }
    threads.join();
    if (!failure.ok())
      throw std::runtime_error(failure.message());
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return seconds[seconds.size() / 2];
  }

private:
  static constexpr size_t leastLoops = 3;
  static constexpr double leastSeconds = 0.01;

  io::Status startRanks(io::Threads &threads) {
    auto body = [this](int rank) {
      try {
        runRank(rank);
      } catch (const std::exception &error) { // a thread of its own that could not be started
        fail(io::Status::error(error.what()));
      }
    };
    for (int rank = 0; rank < size; ++rank)
      PAR_TRY(threads.start("the thread of rank " + std::to_string(rank), [body, rank] { body(rank); }));
    return {};
  }

  void runRank(int rank) {
    std::unique_ptr<comm::Transport> transport = world.connect(rank);
    std::vector<int> all(static_cast<size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    comm::Group *group = transport->group(all);
    if (io::Status opened = transport->openRoutes(); !opened.ok())
      return fail(opened);
    std::unique_ptr<RankWork> work = make(*transport, *group, rank);
    while (true) {
      if (rank == 0)
        prepareLoop();
      if (!pass(transport->barrier(*group)) || isDone)
        return;
      Clock::time_point begin = Clock::now();
      for (int64_t run = 0; run < runs; ++run)
        if (!pass(work->run()))
          return;
      if (rank == 0)
        total = std::chrono::duration<double>(Clock::now() - begin).count();
      if (!pass(transport->barrier(*group)))
        return;
    }
  }

  /// What other ranks read behind the barrier at which they wait meanwhile.
  void prepareLoop() {
    if (total >= leastSeconds || !seconds.empty())
      seconds.push_back(total / double(runs));
    else if (total > 0)
      runs = std::max(runs + 1, int64_t(double(runs) * std::min(16.0, 1.2 * leastSeconds / total)));
    isDone = seconds.size() >= leastLoops && isEnough;
  }

  bool pass(const io::Status &status) {
    if (!status.ok())
      fail(status);
    return status.ok();
  }
  void fail(const io::Status &status) {
    std::lock_guard lock(mutex);
    if (failure.ok())
      failure = status;
    world.abort();
  }

  comm::LocalWorld world;
  const MakeRankWork &make;
  const int size;
  int64_t runs = 1;
  double total = 0; ///< of the last loop
  bool isDone = false;
  std::atomic<bool> isEnough{true}; ///< else loops go on, for what runs beside them
  std::vector<double> seconds;
  std::mutex mutex;
  io::Status failure;
};
} // namespace

double measureRanks(int ranks, const MakeRankWork &make, const std::function<void()> &beside) {
  return RankLoops(ranks, make).measure(beside);
}

} // namespace par::measure
