#include "core/Job.h"

#include "comm/local/LocalTransport.h"
#include "core/Devices.h"
#include "core/Error.h"
#include "core/Loading.h"
#include "cpu/Context.h"
#include "par/io/Threads.h"

#include <algorithm>
#include <new>
#include <thread>
#include <unistd.h>

namespace par::rt {

static Ending runRanks(const Shared &shared) {
  int ranks = shared.manifest.worldSize;
  comm::LocalWorld world(ranks, shared.options.link);
  Watchdog watchdog(shared.board, shared.failure, shared.options.timeout);
  std::vector<Ending> endings(size_t(ranks), Ending::complete);
  io::Threads threads;
  auto body = [&](int rank) {
    try {
      std::unique_ptr<comm::Transport> transport = world.connect(rank);
      endings[size_t(rank)] = runRank(shared, *transport, rank == 0 ? &watchdog : nullptr, rank);
    } catch (const std::bad_alloc &) {
      Failure::endWithoutMemory(rank);
    }
  };
  for (int rank = 0; rank < ranks; ++rank)
    if (io::Status status =
            threads.start("the thread of rank " + std::to_string(rank), [&, rank] { body(rank); });
        !status.ok())
      shared.failure.end(Failure::nobody, status.message());
  threads.join();
  return endings[0];
}

static std::string describe(const Manifest &manifest, int threads) {
  return "local: " + describeDevice(manifest) + " and no launcher, so all " +
         std::to_string(manifest.worldSize) + " ranks are threads of this process, " +
         std::to_string(threads) + (threads == 1 ? " core each" : " cores each");
}

int runLocalJob(RunOptions options) {
  Loaded loaded;
  load(options, loaded, /*writes=*/true);
  const Manifest &manifest = loaded.manifest;
  if (std::string problem = deviceMemoryProblem(manifest, arenaBytes(loaded), manifest.worldSize);
      !problem.empty())
    throw Error(problem);
  Saver saver(manifest);
  saver.prepare(options, true);
  MetricsFile metrics;
  metrics.prepare(options.metrics, loaded.start.step);
  Checkpointer checkpointer(manifest, options, loaded.start);
  checkpointer.prepare(loaded.lock.get());
  int threads = std::max(1, cpu::availableCores() / manifest.worldSize);
  announce(options, loaded, describe(manifest, threads));
  ProgressBoard board(manifest);
  Failure failure(board);
  std::vector<int64_t> pids(size_t(manifest.worldSize), getpid());
  Shared shared{options, loaded, board,        failure,
                metrics, saver,  checkpointer, {threads, 0, options.deterministic},
                pids};
  Ending ending = runRanks(shared);
  return reportEnding(ending, options, board[0].step, true);
}

} // namespace par::rt
