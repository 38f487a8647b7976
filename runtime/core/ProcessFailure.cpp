#include "core/ProcessFailure.h"

#include "core/Console.h"
#include "par/config/Message.h"
#include "par/io/Files.h"
#include "par/io/Threads.h"

#include <cstdio>
#include <future>
#include <unistd.h>

namespace par::rt {

using comm::Beat;
using comm::Clock;

[[noreturn]] static void exitQuietlyNow() {
  std::fflush(stdout);
  io::removeTemporaries();
  _exit(1);
}

/// Of rank 0 the others say that it was silent: this process was stopped for longer than --timeout.
[[noreturn]] static void leaveToOthers(int rank) {
  if (rank == 0)
    std::fprintf(stderr,
                 "the other ranks ended the run: they heard nothing of this process, which is rank 0\n");
  exitQuietlyNow();
}

/// mpirun kills all when the first process ends, and it is rank 1 that says the error where rank 0 cannot.
static void letRank1Say(int rank) {
  if (rank > 1)
    std::this_thread::sleep_for(std::chrono::seconds(1));
}

void StartFailure::endHere(const std::string &message) {
  mutex.lock(); // for good: the process ends here
  if (rank == 0)
    control.end();
  // Without rank 0 it is rank 1 that says the error, and the others what they saw.
  std::string line = config::errorLine(message);
  std::fputs(rank <= 1 ? line.c_str() : (config::asMessage(message) + "\n").c_str(), stderr);
  letRank1Say(rank);
  exitQuietlyNow();
}

void StartFailure::end(const std::string &message) {
  if (rank != 0) {
    control.reportFailure(rank, message);
    std::this_thread::sleep_for(std::chrono::seconds(3)); // rank 0 ends this process, unless it is gone
  }
  endHere(message);
}

void StartFailure::leaveToRank0() {
  std::this_thread::sleep_for(std::chrono::seconds(10));
  exitQuietlyNow();
}

comm::Control::Events StartFailure::events() {
  comm::Control::Events events;
  events.failed = [this](int, const std::string &message) { endHere(message); };
  events.ended = [this] { leaveToOthers(rank); };
  events.lost = [this](int culprit, const std::string &why) {
    endHere("rank " + std::to_string(culprit) + " is gone before the first step: " + why +
            "; the run was ended");
  };
  return events;
}

ProcessFailure::ProcessFailure(ProgressBoard &board, comm::ProcessWorld &world, const Manifest &manifest)
    : Failure(board), places(board), world(world), manifest(manifest), rank(world.rank()),
      heard(size_t(board.size())) {}

/// Where a process is gone, GPUs of others fail because of it, at once: the control channel knows which it
/// was, and ends the job.
void ProcessFailure::end(int culprit, const std::string &message) {
  if (recordOfDevices)
    std::this_thread::sleep_for(std::chrono::seconds(2));
  endNow(culprit, message);
}

void ProcessFailure::endNow(int culprit, const std::string &message) {
  if (rank != 0) {
    world.control().reportFailure(culprit, message);
    std::this_thread::sleep_for(std::chrono::seconds(3)); // rank 0 ends this process, unless it is gone
  }
  endHere(culprit, message);
}

/// Whatever they wait for does not come any more. A library that does not end that wait is not waited for.
void ProcessFailure::endDevices() {
  constexpr auto patience = std::chrono::seconds(5);
  if (recordOfDevices)
    printError(recordOfDevices());
  if (!stopDevices)
    return;
  auto stopped = std::make_shared<std::promise<void>>();
  std::thread stopping;
  // Where none can be started the process ends without.
  if (!io::startThread(stopping, "", [stop = stopDevices, stopped] {
         stop();
         stopped->set_value();
       }).ok())
    return;
  stopping.detach();
  stopped->get_future().wait_for(patience);
}

void ProcessFailure::beforeExit() {
  endDevices();
  if (rank == 0)
    world.control().end();
  letRank1Say(rank);
}

void ProcessFailure::showBeat(int from, const Beat &beat) {
  RankProgress &progress = places[from];
  const Program &program = manifest.programOf(from);
  bool known = beat.action < int(program.actions.size()) &&
               beat.collective < int(program.collectives.size()) &&
               beat.message < int(program.messages.size());
  progress.step = beat.step, progress.actions = beat.actions, progress.beats = beat.beats;
  progress.action = known ? beat.action : -1, progress.collective = known ? beat.collective : -1;
  progress.message = known ? beat.message : -1;
  bool prepares = beat.preparation >= 0 && beat.preparation < preparationCount;
  progress.preparation = prepares ? Preparation(beat.preparation) : Preparation::none;
  heard[size_t(from)] = Clock::now();
}

/// What is known for certain about a rank that is gone. A beat may be old; but nobody begins a step before
/// all have done the one before.
std::string ProcessFailure::lastPlace(int gone) {
  RankProgress &progress = places[gone];
  if (int64_t done = places[rank].step - 1; progress.step < done) {
    progress.step = done, progress.action = -1, progress.collective = -1;
    return ", after step " + std::to_string(done);
  }
  if (heard[size_t(gone)] == Clock::time_point())
    return "";
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.1f",
                std::chrono::duration<double>(Clock::now() - heard[size_t(gone)]).count());
  return std::string(", last heard of ") + seconds + " s ago, " + places.whereabouts(gone);
}

/// When it is rank 0's process, everyone says where it is, and rank 1 why.
void ProcessFailure::lost(int culprit, const std::string &why) {
  std::string place = rank == 0 ? lastPlace(culprit) : "";
  endHere(culprit, "rank " + std::to_string(culprit) + " is gone: " + why + place + "; the run was ended",
          rank <= 1);
}

comm::Control::Events ProcessFailure::events() {
  comm::Control::Events events;
  events.ownBeat = [this] {
    const RankProgress &progress = places[rank];
    return Beat{progress.step,
                progress.actions,
                progress.beats,
                progress.action,
                progress.collective,
                progress.message,
                int32_t(progress.preparation.load())};
  };
  events.beat = [this](int from, const Beat &beat) { showBeat(from, beat); };
  events.failed = [this](int culprit, const std::string &message) { endNow(culprit, message); };
  events.aborted = [this] {
    if (stopDevices)
      stopDevices();
    world.transport().stop();
  };
  events.ended = [this] {
    endDevices();
    io::removeTemporaries();
    leaveToOthers(rank);
  };
  events.lost = [this](int culprit, const std::string &why) { lost(culprit, why); };
  return events;
}

} // namespace par::rt
