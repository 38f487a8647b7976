/// Everything that a process reads and checks before its ranks start.
#ifndef PAR_CORE_LOADING_H
#define PAR_CORE_LOADING_H

#include "core/Checkpoint.h"
#include "core/Fault.h"
#include "core/Manifest.h"
#include "core/Options.h"
#include "core/Package.h"
#include "par/io/RowData.h"
#include "par/io/Weights.h"

namespace par::rt {

struct Loaded {
  Fault fault;
  Manifest manifest;
  std::unique_ptr<FolderLock>
      lock; ///< of --checkpoint; null without it, and where another process has rank 0
  io::TokenData data;
  io::RowData rows;                             ///< open when inputs are read in rows
  io::StepValues values;                        ///< of --input
  io::Weights weights;                          ///< open when the run begins with them
  std::unique_ptr<io::CheckpointReader> resume; ///< null: the run begins with step 1
  Start start;
  std::vector<Schedule> schedule; ///< a training step, by program
  io::TokenData evalData;         ///< open when the options name some
  io::RowData evalRows;
  std::vector<Schedule> evaluate; ///< by program; empty: nothing is evaluated
};

/// Bytes of the arena that the schedules of this run need.
int64_t arenaBytes(const Loaded &loaded);
/// With the host's arena.
int64_t memoryBytes(const Loaded &loaded);

/// Reads what the options name; a checkpoint to resume from decides about the seed. The process that
/// `writes`, which is rank 0's, takes the folder of checkpoints. Throws Error.
void load(RunOptions &options, Loaded &loaded, bool writes);

/// Bytes that new allocations may take before the machine swaps or kills, or a huge number where that is
/// unknown.
int64_t availableMemory();

/// Why a machine with so much memory left has no room for the arenas of so many ranks, or nothing.
std::string memoryProblem(const Manifest &manifest, int64_t arena, int ranksHere, int64_t available);

/// The first lines of a run: what is run, how (`transport`), on what data.
void announce(const RunOptions &options, const Loaded &loaded, const std::string &transport);

} // namespace par::rt
#endif
