#include "comm/mpi/MpiMessages.h"
#include "comm/nccl/NcclTransport.h"
#include "core/Agreement.h"
#include "core/Console.h"
#include "core/Deterministic.h"
#include "core/Devices.h"
#include "core/Error.h"
#include "core/GpuAssignment.h"
#include "core/Introduction.h"
#include "core/Job.h"
#include "core/Messages.h"
#include "core/ProcessFailure.h"
#include "core/Signals.h"
#include "cpu/Context.h"
#include "par/config/Message.h"

#include <algorithm>

namespace par::rt {

using comm::Clock;

/// What all processes say, in the order of ranks. Rank 0 is to find out who is not ready, so the others wait
/// longer.
static std::vector<Introduction> introduce(comm::ProcessWorld &world, const Introduction &own, double timeout,
                                           StartFailure &failure) {
  std::vector<std::string> texts;
  Clock::time_point deadline = comm::after(world.rank() == 0 ? timeout : 2 * timeout + 5);
  if (io::Status status = world.control().allGather(own.text(), deadline, texts); !status.ok())
    failure.end(status.message());
  std::vector<Introduction> all(texts.size());
  for (size_t rank = 0; rank < texts.size(); ++rank)
    if (!readIntroduction(texts[rank], all[rank]))
      failure.end("rank " + std::to_string(rank) +
                  " did not introduce itself; start the same version of par everywhere");
  return all;
}

/// Why the processes cannot run together, or nothing. The same on all.
static std::string problemOf(const std::vector<Introduction> &all, const RunOptions &options,
                             const Launch &launch, const Loaded &loaded) {
  if (std::string problem = conflict(all, options.package, launch.by); !problem.empty())
    return problem;
  bool onGpu = isOnGpu(loaded.manifest);
  if (std::string problem = onGpu ? gpuProblem(all, assignGpus(all), options.package) : ""; !problem.empty())
    return problem;
  if (std::string problem = onGpu && options.deterministic ? ncclOrderProblem(loaded.manifest) : "";
      !problem.empty())
    return problem;
  int64_t bytes =
      onGpu ? loaded.manifest.hostArenaBytes() : memoryBytes(loaded); // of the host, for each rank
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (std::string problem =
            memoryProblem(loaded.manifest, bytes, neighbours(all, all[rank]).onMachine, all[rank].memory);
        !problem.empty())
      return problem + " (" + nameOf(all, rank) + ")";
  return "";
}

static std::string describe(const Manifest &manifest, const Launch &launch, TransportKind kind,
                            const std::vector<Introduction> &all, int threads) {
  std::vector<std::string> machines;
  for (const Introduction &one : all)
    machines.push_back(one.machine);
  std::sort(machines.begin(), machines.end());
  auto count = std::unique(machines.begin(), machines.end()) - machines.begin();
  std::string hosts = kind == TransportKind::mpi ? "mpi" : "tcp";
  return (isOnGpu(manifest) ? "nccl, and " + hosts + " between hosts" : hosts) +
         ": a launcher started this process (" + launch.by + "), so each of the " +
         std::to_string(all.size()) + " ranks is a process, on " + std::to_string(count) +
         (count == 1 ? " machine, " : " machines, ") + std::to_string(threads) +
         (threads == 1 ? " core each" : " cores each") + (isOnGpu(manifest) ? " and a GPU" : "");
}

/// Waits until all have finished. Only rank 0 may give up at a signal: the others would take the job from it
/// while it saves.
static void finishTogether(comm::ProcessWorld &world, ProcessFailure &failure, ProgressBoard &board,
                           double timeout) {
  bool stoppedBefore = stopRequested();
  RankProgress &own = board[world.rank()];
  io::Status status = world.control().finish(timeout, [&] {
    own.beat();
    return world.rank() != 0 || stoppedBefore || !stopRequested();
  });
  if (!status.ok())
    failure.end(world.rank(), status.message());
}

/// NCCL between the GPUs of this job's processes. Throws Error.
static std::unique_ptr<nccl::NcclTransport> makeNccl(const RunOptions &options, comm::ProcessWorld &world,
                                                     ProgressBoard &board, ProcessFailure &failure) {
  int number = world.rank();
  nccl::NcclTransport::Options asked;
  asked.rank = number, asked.timeout = options.timeout;
  asked.action = [&board, number] { return int(board[number].action.load(std::memory_order_relaxed)); };
  asked.failed = [&board, &failure, number](const std::string &why) {
    failure.end(number, "rank " + std::to_string(number) + " failed " + board.whereabouts(number) + ": " +
                            why + "; the run was ended");
  };
  std::unique_ptr<nccl::NcclTransport> made;
  check(nccl::NcclTransport::make(world.transport(), std::move(asked), made));
  failure.setDevices([&made = *made] { return made.flightRecord(); }, [&made = *made] { made.stop(); });
  return made;
}

/// Runs this process's rank, once all agree.
static int runAgreed(const RunOptions &options, comm::ProcessWorld &world, const Loaded &loaded, Saver &saver,
                     Checkpointer &checkpointer, MetricsFile &metrics, const std::vector<Introduction> &all,
                     const Place &place) {
  int number = world.rank();
  ProgressBoard board(loaded.manifest, number == 0 ? -1 : number);
  ProcessFailure failure(board, world, loaded.manifest);
  std::unique_ptr<nccl::NcclTransport> nccl;
  if (isOnGpu(loaded.manifest))
    nccl = makeNccl(options, world, board, failure);
  world.control().listen(failure.events());
  std::unique_ptr<Watchdog> watchdog;
  if (number == 0)
    watchdog = std::make_unique<Watchdog>(board, failure, options.timeout);
  std::vector<int64_t> pids;
  for (const Introduction &one : all)
    pids.push_back(one.pid);
  Shared shared{options, loaded, board, failure, metrics, saver, checkpointer, place, pids};
  comm::Transport *transport = nccl ? static_cast<comm::Transport *>(nccl.get()) : &world.transport();
  Ending ending = runRank(shared, *transport, watchdog.get(), number);
  int exitCode = reportEnding(ending, options, board[number].step, number == 0);
  finishTogether(world, failure, board, options.timeout);
  return exitCode;
}

/// Each process of a launcher that the MPI library does not know is a world of its own, and has no rank 0 to
/// speak for it. Throws Error.
static void checkMpiSize(const Launch &launch, int size) {
  if (size == 1 && launch.size > 1)
    throw Error("transport mpi: " + launch.by +
                ", but MPI sees 1 process: that launcher and this MPI library do not know each other; use "
                "--transport tcp, or start par by the mpirun of this MPI");
}

static io::Status openWorld(const RunOptions &options, const Launch &launch, TransportKind kind,
                            std::unique_ptr<comm::ProcessWorld> &world) {
  int rank = launch.rank, size = launch.size;
  if (kind == TransportKind::tcp && launch.address.empty())
    return comm::ProcessWorld::overProcessManager(rank, size, launch.processManager, options.timeout, world);
  if (kind == TransportKind::tcp) {
    comm::Meeting meeting{launch.address, launch.port, launch.secretFile};
    return comm::ProcessWorld::overTcp(rank, size, meeting, options.timeout, world);
  }
  PAR_TRY(comm::startMpi(rank, size));
  checkMpiSize(launch, size);
  return comm::ProcessWorld::overMpi(rank, size, options.timeout, world);
}

/// Null when this process cannot reach the others and has said so. Where rank 0 is gone, rank 1 says the
/// error.
static std::unique_ptr<comm::ProcessWorld> meet(const RunOptions &options, const Launch &launch,
                                                TransportKind kind) {
  std::unique_ptr<comm::ProcessWorld> world;
  io::Status status = openWorld(options, launch, kind, world);
  if (launch.rank <= 1)
    check(status);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", config::asMessage(status.message()).c_str());
  return world;
}

/// Rank 0 says which checkpoint is resumed, once the folder is its own: another run that is about to end may
/// save more of them while ranks look. "?" where it resumes none, or may not: that is compared, or said,
/// later.
static void settleResume(RunOptions &options, Loaded &loaded, comm::ProcessWorld &world, StartFailure &start,
                         std::string &problem) {
  bool asks = !options.resume.empty() && world.rank() == 0;
  std::string name = "?";
  try {
    if (asks && !options.checkpoint.empty())
      loaded.lock = std::make_unique<FolderLock>(options.checkpoint);
    if (asks)
      name = nameToResume(options);
  } catch (const std::exception &error) {
    problem = error.what();
  }
  std::vector<std::string> names;
  Clock::time_point deadline = comm::after(world.rank() == 0 ? options.timeout : 2 * options.timeout + 5);
  if (io::Status status = world.control().allGather(name, deadline, names); !status.ok())
    start.end(status.message());
  if (names.front().find('/') != std::string::npos)
    start.end("rank 0 names no checkpoint but " + names.front());
  if (!options.resume.empty() && names.front() != "?")
    options.resumeName = names.front();
}

/// What only the rank that has a GPU can say of it: whether its arena fits.
static void checkOwnGpu(const Loaded &loaded, int gpu, const std::string &name, StartFailure &start) {
  std::string problem;
  try {
    problem = deviceMemoryProblem(loaded.manifest, arenaBytes(loaded), 1, gpu);
  } catch (const Error &error) {
    problem = error.what();
  }
  if (!problem.empty())
    start.end(problem + " (" + name + ")");
}

int runProcessJob(RunOptions options, const Launch &launch, TransportKind kind) {
  if (kind == TransportKind::mpi && !comm::builtWithMpi() && launch.rank != 0)
    return exitQuietly();
  forbidBars();
  std::unique_ptr<comm::ProcessWorld> world = meet(options, launch, kind);
  if (!world)
    return 1;
  StartFailure start(world->control(), world->rank());
  world->control().listen(start.events());
  if (io::Status status = world->openTransport(); !status.ok())
    start.end(status.message());
  Introduction own = Introduction::own();
  Loaded loaded;
  Saver saver(loaded.manifest);
  MetricsFile metrics;
  Checkpointer checkpointer(loaded.manifest, options, loaded.start);
  settleResume(options, loaded, *world, start, own.problem);
  try {
    if (!own.problem.empty())
      throw Error(own.problem);
    load(options, loaded, world->rank() == 0);
    checkAmongProcesses(loaded.manifest, options.transport);
    own.gpus = gpusSeen(loaded.manifest);
    own.fingerprint = loaded.manifest.fingerprint, own.worldSize = loaded.manifest.worldSize;
    own.agreed = agreedValues(options, loaded);
    saver.prepare(options, world->rank() == 0);
    if (world->rank() == 0)
      metrics.prepare(options.metrics, loaded.start.step);
    checkpointer.prepare(loaded.lock.get());
  } catch (const std::exception &error) {
    own.problem = error.what();
  }
  std::vector<Introduction> all = introduce(*world, own, options.timeout, start);
  if (std::string problem = problemOf(all, options, launch, loaded); !problem.empty()) {
    loaded.lock.reset();
    if (world->rank() == 0)
      start.end(problem);
    start.leaveToRank0();
  }
  Place place;
  place.deterministic = options.deterministic;
  if (isOnGpu(loaded.manifest)) {
    place.gpu = assignGpus(all)[size_t(world->rank())];
    checkOwnGpu(loaded, place.gpu, nameOf(all, size_t(world->rank())), start);
  } else if (hasMessages(loaded.manifest))
    if (io::Status status = world->transport().openRoutes(); !status.ok())
      start.end(status.message());
  place.threads = std::max(1, cpu::availableCores() / neighbours(all, own).onCores);
  if (world->rank() == 0)
    announce(options, loaded, describe(loaded.manifest, launch, kind, all, place.threads));
  int exitCode = runAgreed(options, *world, loaded, saver, checkpointer, metrics, all, place);
  loaded.lock.reset(); // before MPI ends: a mpirun that was told to stop waits for nobody there
  world.reset();
  if (kind == TransportKind::mpi)
    comm::stopMpi();
  return exitCode;
}

} // namespace par::rt
