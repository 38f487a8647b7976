/// How threads of a rank call MPI and wait for it.
#ifndef PAR_COMM_MPI_MPIEND_H
#define PAR_COMM_MPI_MPIEND_H

#include "comm/mpi/MpiLibrary.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

namespace par::comm {

class MpiRoute;

/// A rule of MPI: counts are int.
constexpr int64_t largestMpiMessage = 1 << 30;

/// The library, which startMpi has checked.
const MpiLibrary &mpi();
/// The library's text for a code that is not MPI_SUCCESS.
io::Status statusOf(int code, const char *function);

/// MPI serves one thread at a time (MPI_THREAD_SERIALIZED), and whoever asks it moves on all that is under
/// way.
struct MpiEnd {
  std::mutex calls; ///< held during every call of MPI while ranks run
  std::atomic<bool> stopped{false};
  std::atomic<int64_t> patience{
      500}; ///< microseconds for which it asks again and again, before it sleeps between
  /// On which this rank receives; guarded by `calls`.
  std::vector<MpiRoute *> receiving;

  /// Begins what was posted to receive and is known to fit by now, on every route: two ranks that wait for
  /// what they send would wait for each other else.
  void advance();

  /// Until `io::Status ask(bool &done)` is done or fails. Gives the core away meanwhile: MPI_Waitall would
  /// spin, and ranks may outnumber cores.
  template <typename Ask>
  io::Status wait(Ask ask) {
    using Clock = std::chrono::steady_clock;
    auto impatient = Clock::now() + std::chrono::microseconds(patience);
    for (unsigned turn = 0;; ++turn) {
      bool done = false;
      {
        std::lock_guard<std::mutex> lock(calls);
        advance();
        PAR_TRY(ask(done));
      }
      if (done)
        return {};
      if (stopped)
        return io::Status::error("the job was ended");
      if (turn % 16 != 15 || Clock::now() < impatient)
        sched_yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
};

} // namespace par::comm
#endif
