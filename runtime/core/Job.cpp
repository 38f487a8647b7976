#include "core/Job.h"

#include "comm/local/LocalTransport.h"
#include "core/Error.h"
#include "core/Rank.h"
#include "core/Variables.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <unistd.h>

namespace par::rt {

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static std::string meshText(const Manifest &manifest) {
  std::string text;
  for (const auto &[axis, size] : manifest.mesh)
    text += (text.empty() ? "" : ",") + axis + "=" + std::to_string(size);
  return text.empty() ? "1 rank" : text;
}

static void announce(const RunOptions &options, const Manifest &manifest, int threads) {
  std::printf("package %s: %s, %lld parameters, mesh %s, %s, %s, batch %lld x %lld tokens\n", options.package.c_str(),
              manifest.modelType.c_str(), static_cast<long long>(manifest.parameters), meshText(manifest).c_str(),
              manifest.dtype.c_str(), manifest.optimizer.c_str(), static_cast<long long>(manifest.batch),
              static_cast<long long>(manifest.sequence));
  std::printf("transport local: target cpu and no launcher, so all %d ranks are threads of this process, %d core%s each\n",
              manifest.worldSize, threads, threads == 1 ? "" : "s");
  std::printf("data %s, %s\n", options.data.c_str(),
              options.weights.empty() ? ("initial values from seed " + std::to_string(options.seed)).c_str()
                                      : ("weights " + options.weights).c_str());
  std::fflush(stdout);
}

/// Bytes that new allocations may take before the machine swaps or kills, or a huge number where that is unknown.
static int64_t availableMemory() {
  long long kib = 0;
  char line[256];
  std::FILE *file = std::fopen("/proc/meminfo", "r");
  if (!file)
    return INT64_MAX;
  while (std::fgets(line, sizeof(line), file))
    if (std::sscanf(line, "MemAvailable: %lld kB", &kib) == 1)
      break;
  std::fclose(file);
  return kib ? kib * 1024 : INT64_MAX;
}

static void checkMemory(const Manifest &manifest) {
  int64_t needed = 0, available = availableMemory();
  if (__builtin_mul_overflow(manifest.program.arenaBytes, int64_t(manifest.worldSize), &needed) || needed > available)
    throw Error(manifest.path + ": " + std::to_string(manifest.worldSize) + " ranks need arenas of " +
                std::to_string(manifest.program.arenaBytes) + " bytes each, this machine has " +
                std::to_string(available) + " left; use a smaller model or batch");
}

static int exitCodeOf(Ending ending, const Manifest &manifest, int64_t step, const RunOptions &options) {
  if (ending == Ending::stopped)
    std::fprintf(stderr, "error: %s: stopped by a signal after step %lld of %lld; nothing was saved\n",
                 options.package.c_str(), static_cast<long long>(step), static_cast<long long>(options.steps));
  if (ending == Ending::notFinite)
    std::fprintf(stderr,
                 "error: %s: loss or gradient norm of step %lld is not finite; lower --lr, check the data, or give "
                 "--allow-nonfinite\n",
                 manifest.path.c_str(), static_cast<long long>(step));
  return ending == Ending::complete ? 0 : 1;
}

/// A rank's thread from beginning to end.
static void rankMain(const Shared &shared, comm::LocalWorld &world, Watchdog &watchdog, int number, Ending &ending) {
  try {
    std::unique_ptr<comm::Transport> transport = world.connect(number);
    Rank rank(shared, *transport, number);
    rank.prepare();
    if (number == 0)
      watchdog.start();
    ending = rank.run();
    if (number == 0)
      watchdog.stop();
    if (ending == Ending::complete)
      rank.save();
  } catch (const std::bad_alloc &) {
    shared.failure.end(number, "rank " + std::to_string(number) + ": out of memory");
  } catch (const std::exception &error) {
    shared.failure.end(number, error.what());
  }
}

static Ending runRanks(const Shared &shared) {
  int ranks = shared.manifest.worldSize;
  comm::LocalWorld world(ranks);
  Watchdog watchdog(shared.board, shared.failure, shared.options.timeout);
  std::vector<Ending> endings(size_t(ranks), Ending::complete);
  std::vector<std::thread> threads;
  try {
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back(
          [&, rank] { rankMain(shared, world, watchdog, rank, endings[size_t(rank)]); });
  } catch (const std::exception &error) {
    shared.failure.end(int(threads.size()), std::string("a thread for a rank could not be started: ") + error.what());
  }
  for (std::thread &thread : threads)
    thread.join();
  return endings[0];
}

int runJob(const RunOptions &options) {
  refuseLaunchers();
  Fault fault = parseFault(environment("PAR_TEST_FAULT"));
  Manifest manifest = openPackage(options.package);
  checkInputs(manifest);
  checkMemory(manifest);
  io::TokenData data;
  check(data.open(options.data, options.dataType, manifest.sequence, manifest.vocabulary, options.seed));
  check(data.checkVocabulary(options.steps > INT64_MAX / manifest.batch ? INT64_MAX : options.steps * manifest.batch));
  io::Weights weights;
  if (!options.weights.empty()) {
    check(weights.open(options.weights));
    check(weights.match(parameterFiles(manifest.program)));
  }
  Schedule schedule = loadSchedule(options.package, manifest.program);
  installSignalHandlers();
  Saver saver(manifest);
  saver.prepare(options);
  MetricsFile metrics;
  metrics.prepare(options.metrics);
  int threads = std::max(1, cpu::availableCores() / manifest.worldSize);
  announce(options, manifest, threads);
  ProgressBoard board(manifest);
  Failure failure(board);
  Shared shared{options, manifest, schedule, data, options.weights.empty() ? nullptr : &weights,
                fault,   board,    failure,  metrics, saver, threads};
  Ending ending = runRanks(shared);
  return exitCodeOf(ending, manifest, board[0].step, options);
}

/// The folder of this executable when it is a package's launcher (its name begins with "rank"), else empty.
static std::string ownPackage(const char *program) {
  std::string name = program ? program : "";
  name = name.substr(name.rfind('/') + 1);
  if (name.rfind("rank", 0) != 0)
    return "";
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  std::string folder = length > 0 ? std::string(path, size_t(length)) : "";
  return folder.substr(0, folder.rfind('/'));
}

int parRunMain(int argc, char **argv) {
  RunOptions options;
  int exitCode = 0;
  try {
    if (!parseCommandLine(argc, argv, ownPackage(argv[0]), options, exitCode))
      return exitCode;
    while (options.package.size() > 1 && options.package.back() == '/')
      options.package.pop_back();
    return runJob(options);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "error: par-run: out of memory\n");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}

} // namespace par::rt
