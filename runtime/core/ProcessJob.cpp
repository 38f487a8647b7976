#include "comm/mpi/MpiMessages.h"
#include "comm/process/ProcessWorld.h"
#include "core/Error.h"
#include "core/Job.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <sched.h>
#include <sstream>
#include <unistd.h>

namespace par::rt {

using comm::Beat;
using comm::Clock;

namespace {
/// How a rank that is a process ends all others: rank 0 says it once for all.
class ProcessFailure : public Failure {
public:
  ProcessFailure(const ProgressBoard &board, comm::Control &control, int rank)
      : Failure(board), control(control), rank(rank) {}

  [[noreturn]] void end(int culprit, const std::string &message) override {
    if (rank != 0) {
      control.reportFailure(culprit, message);
      std::this_thread::sleep_for(std::chrono::seconds(3)); // rank 0 ends this process, unless it is gone
    }
    endHere(culprit, message);
  }
  /// A process is gone. When it is rank 0's, everyone says where it is, and rank 1 why.
  [[noreturn]] void lost(int culprit, const std::string &why) {
    std::string place = rank == 0 ? ", last heard of in " + board.place(culprit) : "";
    endHere(culprit, "rank " + std::to_string(culprit) + " is gone: " + why + place + "; the run was ended",
            rank <= 1);
  }

protected:
  void beforeExit() override {
    if (rank == 0)
      control.end();
  }

private:
  comm::Control &control;
  const int rank;
};

/// What every process tells the others before the first step.
struct Introduction {
  std::string problem; ///< why it cannot run, or empty
  std::string fingerprint, machine, cores;
  int64_t pid = 0, memory = 0;
  int worldSize = 0;

  std::string text() const {
    std::ostringstream out;
    out << fingerprint << '\n' << machine << '\n' << cores << '\n';
    out << pid << ' ' << memory << ' ' << worldSize << '\n' << problem;
    return out.str();
  }
  static Introduction read(const std::string &text) {
    std::istringstream in(text);
    Introduction one;
    std::string numbers;
    for (std::string *line : {&one.fingerprint, &one.machine, &one.cores, &numbers})
      std::getline(in, *line);
    std::getline(in, one.problem, '\0');
    std::istringstream(numbers) >> one.pid >> one.memory >> one.worldSize;
    return one;
  }
};
} // namespace

/// The cores that this process may use, as text: processes that share them have the same.
static std::string ownCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string text;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set))
        text += std::to_string(core) + ",";
  return text;
}

static std::string ownMachine() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

static std::vector<Introduction> introduce(comm::ProcessWorld &world, const Introduction &own,
                                           double timeout) {
  std::vector<std::string> texts;
  auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout));
  check(world.control().allGather(own.text(), deadline, texts));
  std::vector<Introduction> all;
  for (const std::string &text : texts)
    all.push_back(Introduction::read(text));
  return all;
}

/// Ranks of this machine, and those of them that share this process's cores.
static std::pair<int, int> neighbours(const std::vector<Introduction> &all, const Introduction &own) {
  std::pair<int, int> counts{0, 0};
  for (const Introduction &one : all) {
    counts.first += one.machine == own.machine;
    counts.second += one.machine == own.machine && one.cores == own.cores;
  }
  return counts;
}

/// Why the processes cannot run together, or nothing. The same on all.
static std::string disagreement(const std::vector<Introduction> &all, const RunOptions &options,
                                const Launch &launch, const Loaded &loaded) {
  auto who = [&](size_t rank) { return "rank " + std::to_string(rank) + " on " + all[rank].machine; };
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].problem.empty())
      return all[rank].problem + " (" + who(rank) + ")";
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank].fingerprint != all[0].fingerprint)
      return options.package + ": " + who(rank) + " has another package than " + who(0) +
             ": their fingerprints are " + all[rank].fingerprint.substr(0, 12) + "... and " +
             all[0].fingerprint.substr(0, 12) + "...; copy the same DIR.par to every machine";
  if (all[0].worldSize != int(all.size()))
    return options.package + ": was compiled for " + std::to_string(all[0].worldSize) + " ranks, but " +
           std::to_string(all.size()) + " processes were started (" + launch.by + "); start " +
           std::to_string(all[0].worldSize) + ", or compile for this --mesh";
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (std::string problem = memoryProblem(loaded.manifest, memoryBytes(loaded),
                                            neighbours(all, all[rank]).first, all[rank].memory);
        !problem.empty())
      return problem + " (" + who(rank) + ")";
  return "";
}

static Beat beatOf(const RankProgress &progress) {
  return {progress.step, progress.actions, progress.beats, progress.action, progress.collective};
}

static void showBeat(const Beat &beat, const Program &program, RankProgress &progress) {
  bool known = beat.action < int(program.actions.size()) && beat.collective < int(program.collectives.size());
  progress.step = beat.step, progress.actions = beat.actions, progress.beats = beat.beats;
  progress.action = known ? beat.action : -1, progress.collective = known ? beat.collective : -1;
}

static comm::Control::Events eventsOf(comm::ProcessWorld &world, ProgressBoard &board,
                                      ProcessFailure &failure, const Program &program) {
  comm::Control::Events events;
  events.ownBeat = [&] { return beatOf(board[world.rank()]); };
  events.beat = [&](int rank, const Beat &beat) { showBeat(beat, program, board[rank]); };
  events.failed = [&](int culprit, const std::string &message) { failure.end(culprit, message); };
  events.aborted = [&] { world.transport().stop(); };
  events.ended = [] {
    io::removeTemporaryFiles();
    _exit(1);
  };
  events.lost = [&](int rank, const std::string &why) { failure.lost(rank, why); };
  return events;
}

static std::string describe(const Launch &launch, TransportKind kind, const std::vector<Introduction> &all,
                            int threads) {
  std::vector<std::string> machines;
  for (const Introduction &one : all)
    machines.push_back(one.machine);
  std::sort(machines.begin(), machines.end());
  auto count = std::unique(machines.begin(), machines.end()) - machines.begin();
  return std::string(kind == TransportKind::mpi ? "mpi" : "tcp") + ": a launcher started this process (" +
         launch.by + "), so each of the " + std::to_string(all.size()) + " ranks is a process, on " +
         std::to_string(count) + (count == 1 ? " machine, " : " machines, ") + std::to_string(threads) +
         (threads == 1 ? " core each" : " cores each");
}

/// Runs this process's rank, once all agree.
static int runAgreed(const RunOptions &options, comm::ProcessWorld &world, const Loaded &loaded, Saver &saver,
                     Checkpointer &checkpointer, MetricsFile &metrics, const std::vector<Introduction> &all,
                     int threads) {
  int number = world.rank();
  ProgressBoard board(loaded.manifest, number == 0 ? -1 : number);
  ProcessFailure failure(board, world.control(), number);
  double period = std::min(options.timeout / 20, 0.5);
  world.control().start(eventsOf(world, board, failure, loaded.manifest.program), period, options.timeout);
  std::unique_ptr<Watchdog> watchdog;
  if (number == 0)
    watchdog = std::make_unique<Watchdog>(board, failure, options.timeout);
  std::vector<int64_t> pids;
  for (const Introduction &one : all)
    pids.push_back(one.pid);
  Shared shared{options, loaded, board, failure, metrics, saver, checkpointer, threads, pids};
  Ending ending = runRank(shared, world.transport(), watchdog.get(), number);
  int exitCode = reportEnding(ending, options, board[number].step, number == 0);
  world.control().finish();
  return exitCode;
}

static std::unique_ptr<comm::ProcessWorld> connect(const RunOptions &options, const Launch &launch,
                                                   TransportKind kind) {
  std::unique_ptr<comm::ProcessWorld> world;
  int rank = launch.rank, size = launch.size;
  if (kind == TransportKind::tcp) {
    check(comm::ProcessWorld::overTcp(rank, size, launch.address, launch.port, options.timeout, world));
    return world;
  }
  check(comm::startMpi(rank, size));
  check(comm::ProcessWorld::overMpi(rank, size, options.timeout, world));
  return world;
}

int runProcessJob(RunOptions options, const Launch &launch, TransportKind kind) {
  if (kind == TransportKind::mpi && !comm::builtWithMpi() && launch.rank != 0)
    return exitQuietly();
  std::unique_ptr<comm::ProcessWorld> world = connect(options, launch, kind);
  Introduction own{"", "", ownMachine(), ownCores(), getpid(), availableMemory(), 0};
  Loaded loaded;
  Saver saver(loaded.manifest);
  MetricsFile metrics;
  Checkpointer checkpointer(loaded.manifest, options, loaded.start);
  try {
    load(options, loaded);
    own.fingerprint = loaded.manifest.fingerprint, own.worldSize = loaded.manifest.worldSize;
    saver.prepare(options, world->rank() == 0);
    if (world->rank() == 0)
      metrics.prepare(options.metrics, loaded.start.step);
    checkpointer.prepare(world->rank() == 0);
  } catch (const std::exception &error) {
    own.problem = error.what();
  }
  std::vector<Introduction> all = introduce(*world, own, options.timeout);
  std::string problem = disagreement(all, options, launch, loaded);
  if (!problem.empty()) {
    if (world->rank() == 0)
      std::fprintf(stderr, "error: %s\n", problem.c_str());
    else
      world->control().awaitClose(Clock::now() + std::chrono::seconds(10));
  }
  int exitCode = 1;
  if (problem.empty()) {
    installSignalHandlers();
    installSaveHandler(!options.checkpoint.empty());
    int threads = std::max(1, cpu::availableCores() / neighbours(all, own).second);
    if (world->rank() == 0)
      announce(options, loaded, describe(launch, kind, all, threads));
    exitCode = runAgreed(options, *world, loaded, saver, checkpointer, metrics, all, threads);
  }
  world.reset();
  if (kind == TransportKind::mpi && problem.empty())
    comm::stopMpi();
  return exitCode;
}

} // namespace par::rt
