/// Saving and restoring the state of training (docs/Running.md, "Checkpoints").
#ifndef PAR_CORE_CHECKPOINT_H
#define PAR_CORE_CHECKPOINT_H

#include "comm/Transport.h"
#include "core/Arenas.h"
#include "core/BestCheckpoint.h"
#include "core/CheckpointTensors.h"
#include "core/FolderLock.h"
#include "core/Options.h"

#include <functional>

namespace par::rt {

/// Where in the data a run begins, and after which step.
struct Start {
  int64_t step = 0, windows = 0;
  std::string checkpoint; ///< hash of the checkpoint.json that is resumed, or empty: the same on all ranks

  /// Number of the first window of a step.
  int64_t firstWindow(int64_t atStep, int64_t batch) const { return windows + (atStep - 1 - step) * batch; }
};

/// The checkpoint that --resume means, as RunOptions::resumeName gives it.
std::string nameToResume(const RunOptions &options);

/// Opens the checkpoint that --resume names and takes seed and position from it. Null when --resume latest
/// finds none: the run begins anew. Throws Error: no checkpoint, an incomplete or changed one, one of another
/// model, optimizer, sequence length or seed.
std::unique_ptr<io::CheckpointReader> openResume(RunOptions &options, const Manifest &manifest, Start &start);

/// Checkpoints of another run, or later ones than `start` of this one, would mix with those that this run
/// saves. Throws Error when there are some in --checkpoint. `resumed` may be null.
void checkUnused(const RunOptions &options, const io::CheckpointReader *resumed, const Start &start);

/// Throws Error when a checkpoint is of a model that computes something else than the package's.
void checkModel(const io::CheckpointReader &checkpoint, const Manifest &manifest);

/// Opens a checkpoint, or the latest one of a folder, for its parameters alone: its optimizer and sequence
/// length do not matter. Throws Error: no checkpoint, an incomplete one, one of another model.
std::unique_ptr<io::CheckpointReader> openParameters(const std::string &path, const Manifest &manifest);

/// Writes a rank's slices into its arenass, which is zero there. Throws Error.
void restore(const Manifest &manifest, const io::CheckpointReader &checkpoint, int rank,
             const Arenas &arenas);
void restoreParameters(const Manifest &manifest, const io::CheckpointReader &checkpoint, int rank,
                       const Arenas &arenas);

/// Writes checkpoints; shared by the ranks of a process.
class Checkpointer {
public:
  Checkpointer(const Manifest &manifest, const RunOptions &options, const Start &start)
      : manifest(manifest), options(options), start(start) {}

  /// `own`: the folder's lock where this process has rank 0, else null.
  void prepare(const FolderLock *own);
  bool wanted() const { return !options.checkpoint.empty(); }

  /// What is saved: the state after a step, and the loss if that was evaluated.
  struct Moment {
    int64_t step;
    std::optional<double> evalLoss;
  };
  /// Every rank calls it after a step, with its arenas. `alive` is called now and then. Throws Error.
  void save(int rank, const Arenas &arenas, const Moment &moment, comm::Transport &transport,
            comm::Group &world, const std::function<void()> &alive);
  /// Whether --keep-best wants a checkpoint of such a loss. On rank 0 alone.
  bool isBest(double evalLoss) const { return options.keepBest && best.isBetter(evalLoss); }
  std::string folderOf(int64_t step) const { return options.checkpoint + "/" + io::checkpointFolder(step); }

private:
  /// One rank's part of one checkpoint.
  struct Part {
    int rank;
    const Arenas &arenas;
    const std::function<void()> &alive;
    std::string hashes; ///< of what was written, 64 digits each, in the order of forBlocksOf
  };
  using Visit = std::function<void(const CheckpointVariable &, size_t number, const io::CheckpointBlock &)>;
  void forBlocksOf(int rank, bool optimizer, const Visit &visit) const;
  void writeFile(const std::string &folder, bool optimizer, Part &part) const;
  void writeBlock(io::SafetensorsWriter &file, const CheckpointVariable &variable,
                  const io::CheckpointBlock &block, Part &part) const;
  std::string agreeOnRun(int rank, comm::Transport &transport, comm::Group &world) const;
  std::vector<char> gatherHashes(const Part &part, comm::Transport &transport, comm::Group &world) const;
  size_t hashBytesOf(int rank) const;
  void publish(const Moment &moment, const std::vector<char> &hashes);
  io::CheckpointInfo describe(const Moment &moment) const;
  void fillHashes(io::CheckpointInfo &info, const std::vector<char> &hashes) const;
  void prune(int64_t step) const;

  const Manifest &manifest;
  const RunOptions &options;
  const Start &start;
  const FolderLock *lock = nullptr;
  BestCheckpoint best; ///< rank 0's
  std::vector<CheckpointVariable> variables;
  size_t hashBytes = 0; ///< of the rank that has most
  io::OutputFolder
      folder; ///< rank 0's; what is in it when the run fails is removed at the end, as others write
};

} // namespace par::rt
#endif
