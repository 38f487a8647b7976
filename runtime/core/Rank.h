/// One rank: its arena, its groups, its steps.
#ifndef PAR_CORE_RANK_H
#define PAR_CORE_RANK_H

#include "comm/Transport.h"
#include "core/Delays.h"
#include "core/Failure.h"
#include "core/Inputs.h"
#include "core/Loading.h"
#include "core/Metrics.h"
#include "core/Saving.h"
#include "cpu/Context.h"

#include <map>
#include <memory>

namespace par::rt {

class Rank;

/// What programs get: the C ABI's prefix and, behind it, the way back to the rank.
struct RankContext : cpu::CpuContext {
  Rank *rank = nullptr;
};

/// What the ranks of a process share. Everything in it is made and checked before the ranks start.
struct Shared {
  Shared(const RunOptions &options, const Loaded &loaded, ProgressBoard &board, Failure &failure,
         MetricsFile &metrics, Saver &saver, Checkpointer &checkpointer, int threads,
         std::vector<int64_t> pids)
      : options(options), manifest(loaded.manifest), schedule(loaded.schedule), data(loaded.data),
        weights(options.weights.empty() ? nullptr : &loaded.weights), resume(loaded.resume.get()),
        start(loaded.start), fault(loaded.fault), board(board), failure(failure), metrics(metrics),
        saver(saver), checkpointer(checkpointer), threads(threads), pids(std::move(pids)) {}

  const RunOptions &options;
  const Manifest &manifest;
  const Schedule schedule;
  const io::TokenData &data;
  const io::Weights *weights;         ///< null: initial values
  const io::CheckpointReader *resume; ///< null: the run begins with step 1
  const Start &start;
  const Fault fault;
  ProgressBoard &board;
  Failure &failure;
  MetricsFile &metrics; ///< rank 0's
  Saver &saver;         ///< rank 0 writes
  Checkpointer &checkpointer;
  const int threads; ///< per rank
  const std::vector<int64_t> pids;
};

/// How a run came to its end.
enum class Ending { complete, stopped, notFinite };

class Rank {
public:
  Rank(const Shared &shared, comm::Transport &transport, int number);

  /// Arena, constants, variables, groups. Throws Error.
  void prepare();
  /// All steps. The same ending on every rank. Throws Error.
  Ending run();
  /// Writes what the user wants saved. Throws Error.
  void save();
  int64_t stepsDone() const { return board.step; }

  // Called by the program.
  void enterAction(int32_t action);
  void runCollective(int32_t collective, void *const *buffers);

private:
  void allocateArena();
  void writeConstants();
  void createGroups();
  /// Highest byte of the arena that was ever written (docs/Package.md, "Arena").
  int64_t peakBytes() const;
  /// Rank 0's outputs of the step just run.
  float output(const char *name) const;
  Ending finishStep(int64_t step, double begin);
  void saveCheckpoint(int64_t step);
  void report(int64_t step, double seconds, int64_t peak, Ending ending);

  struct FreeArena {
    void operator()(char *arena) const;
  };

  const Shared &shared;
  const Manifest &manifest;
  comm::Transport &transport;
  const int number;
  RankProgress &board;
  std::unique_ptr<char, FreeArena> arena;
  std::unique_ptr<cpu::Pool> pool; ///< null with one thread
  std::vector<int32_t> coordinates;
  RankContext context;
  InputWriter inputs;
  Delays delays;
  ProgressPrinter printer;
  comm::Group *world = nullptr;
  std::vector<comm::Group *> groups; ///< per collective of the manifest
  std::vector<uint64_t> sent;        ///< per collective, this step
  std::vector<std::string> sentKeys;
  int savesAsked = 0; ///< by signals, and answered
};

} // namespace par::rt
#endif
