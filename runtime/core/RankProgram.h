/// One rank's program: its arena, its groups, and the way from compiled code back to the runtime.
#ifndef PAR_CORE_RANKPROGRAM_H
#define PAR_CORE_RANKPROGRAM_H

#include "comm/CommunicationThread.h"
#include "core/Arenas.h"
#include "core/Delays.h"
#include "core/Failure.h"
#include "core/Fault.h"
#include "core/Package.h"
#include "core/Profile.h"
#include "core/TransferThread.h"
#include "cpu/Context.h"

#include <map>
#include <memory>

namespace par::rt {

class RankProgram;

/// What programs get: the C ABI's prefix and, behind it, the way back to the rank.
struct RankContext : cpu::CpuContext {
  RankProgram *program = nullptr;
};

class RankProgram {
public:
  /// The ranks of a process share all but transport and number.
  RankProgram(const Manifest &manifest, ProgressBoard &board, Failure &failure, const Fault &fault,
              comm::Transport &transport, int number);

  /// The arena with its constants, room for schedules of up to `bytes`, and `threads` per rank. Throws Error.
  void prepare(int64_t bytes, int threads);
  /// Every rank calls it once, after prepare. Throws Error.
  void createGroups();

  /// Runs a schedule from its first action to its last.
  void run(Schedule schedule);

  char *arena() const { return memory.get(); }
  Arenas arenas() const { return {memory.get(), hostMemory.get()}; }
  comm::Group &world() const { return *all; }
  RankProgress &progress() { return place; }

  /// Highest byte that any schedule run so far has written (docs/Package.md, "Arena"); `end`: the arena of
  /// those run since the last call.
  int64_t peakBytes(int64_t end);
  /// The same of the arena in host memory; 0 without one.
  int64_t hostPeakBytes();
  /// First element of an output; NaN when there is none of that name.
  float output(const char *name, size_t microBatch = 0) const;

  /// Bytes sent since the last call of resetTraffic, by "kind:axis+axis".
  std::map<std::string, uint64_t> traffic() const;
  void resetTraffic() { std::fill(sent.begin(), sent.end(), 0); }

  /// Whose clock the program's work is measured with from now on; null: nobody's.
  void setProfile(Profile *clock) { profile = clock; }
  cpu::Pool *threads() const { return pool.get(); }

  // Called by the program.
  void enterAction(int32_t action);
  void enterWork(int32_t work) {
    if (profile)
      profile->work(work);
  }
  void runCollective(int32_t collective, void *const *buffers);
  void startCollective(int32_t collective, void *const *buffers);
  void waitForCollective(int32_t collective);
  int64_t startTransfer(void *destination, const void *source, int64_t bytes);
  void waitForTransfer(int64_t ticket);

private:
  void allocateArenas(int64_t bytes);
  char *allocate(int64_t bytes, const char *what) const;
  void writeConstants();
  void createCommunication();
  void createTransfers();
  void checkNumber(int32_t collective);
  void beginCollective(int32_t collective, void *const *buffers);
  void endCollective(const io::Status &status);

  struct FreeArena {
    void operator()(char *arena) const;
  };

  const Manifest &manifest;
  ProgressBoard &board;
  Failure &failure;
  const Fault &fault;
  comm::Transport &transport;
  const int number;
  Delays delays;
  RankProgress &place;
  std::unique_ptr<char, FreeArena> memory, hostMemory; ///< hostMemory: null where no variable is on the host
  std::unique_ptr<cpu::Pool> pool;                     ///< null with one thread
  std::vector<int32_t> coordinates;
  RankContext context;
  comm::Group *all = nullptr;
  std::vector<comm::Group *> groups; ///< per collective of the manifest
  std::vector<uint64_t> sent;        ///< per collective
  std::vector<std::string> sentKeys;
  std::vector<uint64_t> tickets; ///< per collective: of its last start
  Delays communicationDelays;
  std::unique_ptr<comm::CommunicationThread> communication; ///< null where nothing is started
  Delays transferDelays;
  std::unique_ptr<TransferThread> transfers; ///< null where no transfer is started
  int64_t peak = 0, hostPeak = 0;
  Profile *profile = nullptr;
};

} // namespace par::rt
#endif
