#include "core/Job.h"

#include "core/Console.h"
#include "core/Error.h"
#include "core/Introduction.h"
#include "core/Signals.h"
#include "cpu/Context.h"
#include "par/config/Message.h"
#include "par/io/MappedRanges.h"
#include "par/io/Threads.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>
#include <unistd.h>

namespace par::rt {

/// Why a run ended early, as one line without its end.
static std::string describeEnding(Ending ending, const RunOptions &options, int64_t step) {
  if (ending == Ending::stopped)
    return options.package + ": stopped by a signal after step " + std::to_string(step) + " of " +
           std::to_string(options.steps) + "; " +
           (options.checkpoint.empty() ? "nothing was saved" : "go on with --resume " + options.checkpoint);
  return options.package + "/manifest.json: " +
         (ending == Ending::notFinite ? "loss or gradient norm of" : "the evaluation loss after") + " step " +
         std::to_string(step) + " is not finite; lower --lr, check the data, or give --allow-nonfinite";
}

int reportEnding(Ending ending, const RunOptions &options, int64_t step, bool print) {
  finishPrinting();
  if (ending == Ending::complete)
    return 0;
  if (print)
    printError(config::errorLine(describeEnding(ending, options, step)));
  return 1;
}

Ending runRank(const Shared &shared, comm::Transport &transport, Watchdog *watchdog, int number) {
  try {
    Rank rank(shared, transport, number);
    if (watchdog)
      watchdog->start();
    rank.prepare();
    Ending ending = rank.run();
    if (ending == Ending::complete)
      rank.save();
    shared.board[number].done = true;
    if (watchdog)
      watchdog->stop();
    return ending;
  } catch (const std::bad_alloc &) {
    try {
      shared.failure.end(number, "rank " + std::to_string(number) +
                                     ": out of memory; allow more (ulimit -v), or use fewer ranks");
    } catch (const std::bad_alloc &) {
      Failure::endWithoutMemory(number);
    }
  } catch (const io::ThreadError &error) {
    shared.failure.end(Failure::nobody, "rank " + std::to_string(number) + ": " + error.what());
  } catch (const FileError &error) {
    shared.failure.end(Failure::nobody, error.what());
  } catch (const Error &error) {
    shared.failure.end(number, error.what());
  } catch (const std::exception &error) { // a device's
    shared.failure.end(number, "rank " + std::to_string(number) + " failed " +
                                   shared.board.whereabouts(number) + ": " + error.what() +
                                   "; the run was ended");
  }
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

int exitQuietly() {
  std::this_thread::sleep_for(std::chrono::seconds(2));
  return 1;
}

/// Over TCP every process says at once that it was started as one of another number than the package has:
/// those that it would wait for may never come. Under mpirun all are there, and rank 0 says it.
static void checkSize(const RunOptions &options, const Launch &launch) {
  int ranks = launch.size;
  try {
    ranks = readManifest(options.package).worldSize;
  } catch (const Error &) {
    return; // rank 0 says it, once they have met
  }
  if (std::string problem = sizeProblem(options.package, ranks, launch.size, launch.by); !problem.empty())
    throw Error(problem);
}

int parRunMain(int argc, char **argv) {
  installSignalHandlers();
  RunOptions options;
  bool quiet = false;
  cpu::ensureThreadStacks();
  io::installTruncationHandler();
  try {
    Launch launch = findLaunch();
    if (launch.rank > 0)
      endQuietly();
    // mpirun gives all the same command line, and shows what rank 0 says. Others may have nobody to speak for
    // them.
    quiet = launch.mpi && launch.rank > 0;
    if (std::optional<int> exitCode = parseCommandLine(argc, argv, ownPackage(argv[0]), quiet, options))
      return quiet && *exitCode ? exitQuietly() : *exitCode;
    while (options.package.size() > 1 && options.package.back() == '/')
      options.package.pop_back();
    if (options.rank >= 0)
      launch = launchByHand(launch, options.rank, openPackage(options.package).worldSize);
    if (launch.rank > 0)
      endQuietly();
    launch = meetWithoutMpi(launch);
    TransportKind kind = chooseTransport(launch, options.transport);
    if (kind != TransportKind::local && options.link.isEmulated())
      throw Error("--emulate-link slows the transport local down, but this run's is another; leave it "
                  "out");
    quiet = false;
    if (kind == TransportKind::tcp)
      checkSize(options, launch);
    return kind == TransportKind::local ? runLocalJob(options) : runProcessJob(options, launch, kind);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "error: out of memory\n");
  } catch (const std::exception &error) {
    if (quiet)
      return exitQuietly();
    std::fputs(config::errorLine(error.what()).c_str(), stderr);
  }
  return 1;
}

} // namespace par::rt
