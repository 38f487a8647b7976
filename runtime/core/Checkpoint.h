/// Saving and restoring the state of training (docs/Running.md, "Checkpoints").
#ifndef PAR_CORE_CHECKPOINT_H
#define PAR_CORE_CHECKPOINT_H

#include "comm/Transport.h"
#include "core/Arenas.h"
#include "core/CheckpointTensors.h"
#include "core/Options.h"

#include <functional>

namespace par::rt {

/// Where in the data a run begins, and after which step.
struct Start {
  int64_t step = 0, windows = 0;

  /// Number of the first window of a step.
  int64_t firstWindow(int64_t atStep, int64_t batch) const { return windows + (atStep - 1 - step) * batch; }
};

/// Opens the checkpoint that --resume names and takes seed and position from it. Null when --resume latest
/// finds none: the run begins anew. Throws Error: no checkpoint, an incomplete one, one of another model,
/// optimizer, sequence length or seed.
std::unique_ptr<io::CheckpointReader> openResume(RunOptions &options, const Manifest &manifest, Start &start);

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

  /// Makes the folder, where this process has rank 0. Throws Error.
  void prepare(bool writes);
  bool wanted() const { return !options.checkpoint.empty(); }

  /// Every rank calls it after a step, with its arenas. `alive` is called now and then. Throws Error.
  void save(int rank, const Arenas &arenas, int64_t step, comm::Transport &transport, comm::Group &world,
            const std::function<void()> &alive);
  std::string folderOf(int64_t step) const { return options.checkpoint + "/" + io::checkpointFolder(step); }

private:
  void writeFile(const std::string &folder, bool optimizer, int rank, const Arenas &arenas,
                 const std::function<void()> &alive);
  void writeBlock(io::SafetensorsWriter &file, const CheckpointVariable &variable,
                  const io::CheckpointBlock &block, const Arenas &arenas, const std::function<void()> &alive);
  void publish(const std::string &temporary, int64_t step);
  io::CheckpointInfo describe(int64_t step) const;
  void prune(int64_t step);

  const Manifest &manifest;
  const RunOptions &options;
  const Start &start;
  std::vector<CheckpointVariable> variables;
};

} // namespace par::rt
#endif
