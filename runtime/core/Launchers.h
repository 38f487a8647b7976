/// The launchers that par knows: the variables by which each tells its processes what they are.
#ifndef PAR_CORE_LAUNCHERS_H
#define PAR_CORE_LAUNCHERS_H

#include "core/Launch.h"

#include <string>
#include <vector>

namespace par::rt {

/// An environment variable's value, or null where it is not set or empty.
const char *variable(const char *name);

/// The value of a variable that is set. Throws Error when it is no number from low to high.
int number(const char *name, int low, int high);

/// What one launcher's variables say of this process: all of it, or a part.
struct LaunchClaim {
  LauncherKind kind = LauncherKind::none;
  int size = 0;                    ///< 0: not said
  int rank = -1;                   ///< -1: not said
  int groups = 0;                  ///< processes that the launcher itself has, one per machine; 0: not said
  std::vector<const char *> names; ///< the variables that say so
  std::vector<const char *> unsetting; ///< without these the launcher says nothing
  bool isComplete() const { return size > 0 && rank >= 0; }
  /// Whether nobody but the launcher sets these variables, so that it is known to be the innermost.
  bool isMarked() const { return kind == LauncherKind::torchrun || kind == LauncherKind::deepspeed; }
};

/// All that is said, by launchers that start processes within others' first. Throws Error for what is no
/// number, or no rank of its size.
std::vector<LaunchClaim> readLaunchClaims();

/// "WORLD_SIZE=4, RANK=1"
std::string textOf(const LaunchClaim &claim);

/// "env -u WORLD_SIZE -u RANK"
std::string commandWithout(const LaunchClaim &claim);

} // namespace par::rt
#endif
