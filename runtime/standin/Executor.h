/// Lanes of operations, and who runs them: whoever waits runs anything that may run, drawn by the seed.
#ifndef PAR_STANDIN_EXECUTOR_H
#define PAR_STANDIN_EXECUTOR_H

#include "cuda/CudaTypes.h"
#include "standin/Accesses.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace par::standin {

using Lock = std::unique_lock<std::recursive_mutex>;

struct Lane;
struct Operation;
using Op = std::shared_ptr<Operation>;

/// Of an operation that others take part in: it waits for them, it has moved, or it is over.
enum class Progress { waits, moved, ended, failed };

/// What a stream does in one go. In a graph it is a node, of which every launch makes a copy.
struct Operation {
  explicit Operation(std::string text) : name(std::make_shared<const std::string>(std::move(text))) {}

  std::shared_ptr<const std::string> name;
  std::function<cuda::CUresult(Operation &)> run; ///< null: nothing, it only orders others
  std::function<void()> callHost;                 ///< a function of the host, without the lock
  /// Null, or makes what is called from its turn on until it has ended; anew for each launch of a graph.
  std::function<std::function<Progress(Operation &)>()> begin;
  std::vector<Op> after; ///< emptied when it is done
  bool isKernel = false;

  Lane *lane = nullptr;
  uint64_t time = 0;
  Clock clock;
  uint64_t number = 0;                          ///< in the order of execution; 0: it has not begun
  std::function<Progress(Operation &)> advance; ///< while it is under way
  bool done = false;

  Toucher toucher() const;
};

/// Operations one after the other: a stream, or a branch of a graph.
struct Lane {
  int number = 0;
  std::deque<Op> queue;
  Op last;
  uint64_t time = 0;
};

class Executor {
public:
  explicit Executor(uint64_t seed) : random(seed) {}

  /// A lane lives as long as the executor: clocks know it by number.
  Lane *makeLane(std::string what);
  /// Behind what is in the lane, and behind all that the host has waited for.
  void enqueue(Lane &lane, const Op &op);
  /// What happened before is ordered before all that is enqueued from now on.
  void hostKnows(const Clock &clock) { host.join(clock); }

  /// Runs operations until a condition holds. When nothing can run and no other thread can enqueue anything,
  /// that is a deadlock: it is reported, and LAUNCH_TIMEOUT returned.
  cuda::CUresult waitUntil(Lock &lock, const std::function<bool()> &condition);
  /// Runs one operation, if there is one that may run.
  bool step(Lock &lock);

  /// Threads that have a context: while one of them does not wait, it may enqueue something.
  void enterThread() { ++threads; }
  void leaveThread();

  uint64_t draw() { return random(); }
  /// What the first operation that failed returned; every call returns it from then on, as on a GPU.
  cuda::CUresult failure = cuda::CUDA_SUCCESS;
  /// Called before an operation runs; false: it never ends.
  std::function<bool(Operation &)> mayRun;
  /// The host waits or asks, nothing moves, and operations are under way that others take part in: whether
  /// those wait for this process, too. Called with false when something has moved.
  std::function<bool(bool stuck)> isDeadlock;
  /// The host asked for something that has not happened, and nothing moves.
  void askedInVain();

private:
  bool isReady(const Operation &op) const;
  bool isUnderWay() const;
  void reportDeadlock();
  bool advance(const Op &op);
  void run(Lock &lock, const Op &op);
  void end(const Op &op, cuda::CUresult result);
  void endStuck();

  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<std::string> names; ///< of the lanes
  std::mt19937_64 random;
  Clock host;
  std::condition_variable_any changed;
  uint64_t begun = 0;
  int threads = 0, waiting = 0, running = 0;
  bool stuck = false;
};

} // namespace par::standin
#endif
