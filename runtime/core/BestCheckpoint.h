/// DIR/best: a link to the checkpoint whose evaluation had the least loss.
#ifndef PAR_CORE_BESTCHECKPOINT_H
#define PAR_CORE_BESTCHECKPOINT_H

#include <cstdint>
#include <optional>
#include <string>

namespace par::rt {

/// Rank 0's, which owns the folder.
class BestCheckpoint {
public:
  /// Takes up what an earlier part of the run has found. Throws Error when the link's name is taken by
  /// something else.
  void open(const std::string &folder);
  bool isBetter(double loss) const { return !best || loss < *best; }
  /// Lets the link name a checkpoint of the folder; `run` is the lock's. Throws Error.
  void set(const std::string &checkpoint, double loss, const std::string &run);

  /// Name of the checkpoint in the folder that its link means, or nothing.
  static std::string nameIn(const std::string &folder);

private:
  std::string folder;
  std::optional<double> best;
};

} // namespace par::rt
#endif
