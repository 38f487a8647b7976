/// --save-params and --save-grads: shards of all ranks gathered into one file in Hugging Face's layout, in
/// f32.
#ifndef PAR_CORE_SAVING_H
#define PAR_CORE_SAVING_H

#include "comm/Transport.h"
#include "core/Arenas.h"
#include "core/Options.h"
#include "core/ParameterFiles.h"

#include <functional>

namespace par::rt {

class Saver {
public:
  Saver(const Manifest &manifest) : manifest(manifest) {}

  /// Says before training what could not be written after it; looked at only in the process that `writes`,
  /// which is rank 0's. Throws Error; also when a parameter has no gradient that could be saved.
  void prepare(const RunOptions &options, bool writes);

  /// Every rank calls it, with its arenas. Rank 0 holds one whole tensor at a time, and a variable until the
  /// last of its tensors is written. `alive` is called now and then. Throws Error.
  void save(int rank, const Arenas &arenas, comm::Transport &transport, const std::function<void()> &alive);

private:
  struct Target {
    std::string path; ///< empty: the file is not wanted
    ParameterFiles files;
    bool hasOffsets = false; ///< the files' values are the variables' less their offsets
    io::SafetensorsWriter file;
  };
  /// A variable's shards at rank 0, those of the ranks that hold one and, where it holds none, of rank 0.
  struct Gathered {
    std::vector<int> ranks;
    std::vector<char> shards;
  };
  std::vector<const Variable *> gradientsOf(const RunOptions &options) const;
  void prepare(Target &target, const std::string &path, const std::vector<const Variable *> &variables,
               const std::string &flag, const std::string &remedy, bool writes);
  void save(Target &target, int rank, const Arenas &arenas, comm::Transport &transport,
            const std::function<void()> &alive);
  Gathered gather(const Variable &variable, int rank, const Arenas &arenas, comm::Transport &transport) const;
  void fill(const Target &target, const io::FileTensor::Use &use, const Gathered &gathered,
            std::vector<float> &whole) const;

  const Manifest &manifest;
  Target parameters, gradients;
};

} // namespace par::rt
#endif
