/// A launch of one kernel that is being emulated.
#ifndef PAR_EMULATION_LAUNCH_H
#define PAR_EMULATION_LAUNCH_H

#include "emulation/Fiber.h"
#include "emulation/Sectors.h"
#include "emulation/Shadow.h"
#include "par/emulation.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace par::emulation {

constexpr uint32_t warpSize = 32;
/// Where the shared memory of a block begins: device addresses are never as high.
constexpr uint64_t sharedWindow = uint64_t(1) << 63;

struct Index {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

enum class State {
  Fresh, ///< has not begun
  Ready,
  InBarrier,
  InWarp, ///< waits for lanes of its mask
  Ended,
};

/// What the lanes of a warp do together.
enum class WarpAction { Sync, Shuffle, Vote, LoadMatrices, Multiply };

struct Thread {
  Fiber fiber;
  char *stack = nullptr;
  State state = State::Fresh;
  Index index;
  uint32_t number = 0; ///< in its block
  uint32_t warpEpoch = 0;
  // What it waits in.
  const char *place = nullptr;
  WarpAction action = WarpAction::Sync;
  uint32_t mask = 0;
  uint32_t in[10] = {}, out[4] = {}; ///< operands and results of the warp's action

  uint32_t lane() const { return number % warpSize; }
  uint32_t warp() const { return number / warpSize; }
};

class Launch {
public:
  Launch(void (*kernel)(void **), void **params, Index grid, Index block, uint64_t sharedBytes,
         const par_emulation &how);
  /// All blocks, one after the other.
  void run();

  /// Reports a fault of the thread that runs, once for each place.
  void report(const std::string &what, const char *place);
  /// Stops the thread that runs until the others let it go on.
  void wait(State state, const char *place);
  void *access(uint64_t address, uint32_t bytes, uint32_t alignment, int kind, const char *place);

  const Index grid, block;
  Index blockIndex;
  std::vector<Thread> threads;
  Thread *current = nullptr;

private:
  static void body();
  void runBlock();
  void runThreads();
  bool runReady();
  void runThread(Thread &thread);
  /// If all lanes that the thread's mask names wait in the same place, does what they wait for.
  bool tryWarp(Thread &thread);
  bool findLanes(Thread &thread);
  bool tryBarrier();
  void giveUp();
  template <typename T>
  void order(std::vector<T> &list);
  uint64_t draw();
  void *accessShared(uint64_t address, uint32_t bytes, int kind, const char *place);
  Moment now() const;
  void reportFor(Thread &thread, const std::string &what);

  void (*kernel)(void **);
  void **params;
  const par_emulation &how;
  Fiber scheduler;
  Stacks stacks;
  std::vector<Thread *> lanes; ///< of the warp that is tried; kept, to take no memory each time
  std::vector<char> shared;
  std::vector<uint32_t> turns; ///< numbers of threads, in the order of this round
  Shadow sharedShadow, globalShadow;
  Sectors sectors;
  int64_t blockNumber = 0;
  uint32_t barriers = 0; ///< that the block has passed
  uint64_t random;
  std::set<std::pair<std::string, const char *>> reported;
};

/// Of the calling thread of the host.
extern thread_local Launch *launch;

/// Lets the lanes exchange what they brought (Warp.cpp).
void exchange(Launch &launch, std::vector<Thread *> &lanes);
/// The same, of matrices (Matrix.cpp).
void loadMatrices(std::vector<Thread *> &lanes);
void multiply(std::vector<Thread *> &lanes);
/// Brings `words` of the current thread, a lane of `mask`, to what the warp does; results are in its `out`.
Thread &doTogether(WarpAction action, uint32_t mask, std::initializer_list<uint32_t> words,
                   const char *place);

} // namespace par::emulation

#endif
