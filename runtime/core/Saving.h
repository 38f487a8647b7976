/// --save-params and --save-grads: shards of all ranks gathered into one file in Hugging Face's layout, in
/// f32.
#ifndef PAR_CORE_SAVING_H
#define PAR_CORE_SAVING_H

#include "comm/Transport.h"
#include "core/Arenas.h"
#include "core/Options.h"
#include "par/io/Safetensors.h"

#include <functional>

namespace par::rt {

class Saver {
public:
  Saver(const Manifest &manifest) : manifest(manifest) {}

  /// Says before training what could not be written after it; looked at only in the process that `writes`,
  /// which is rank 0's. Throws Error; also when a parameter has no gradient that could be saved.
  void prepare(const RunOptions &options, bool writes);

  /// Every rank calls it, with its arenas. Rank 0 holds one whole tensor at a time. `alive` is called now and
  /// then. Throws Error.
  void save(int rank, const Arenas &arenas, comm::Transport &transport, const std::function<void()> &alive);

private:
  struct Target {
    std::vector<const Variable *> variables; ///< none: the file is not wanted
    std::string path;
    io::SafetensorsWriter file;
  };
  void prepare(Target &target, const std::string &path, bool writes);
  void create(Target &target);
  void saveVariable(Target &target, const Variable &variable, int rank, const Arenas &arenas,
                    comm::Transport &transport);

  const Manifest &manifest;
  Target parameters, gradients;
};

} // namespace par::rt
#endif
