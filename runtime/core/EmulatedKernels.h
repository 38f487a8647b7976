/// --emulate-kernels: what a rank does instead of computing.
#ifndef PAR_CORE_EMULATEDKERNELS_H
#define PAR_CORE_EMULATEDKERNELS_H

#include "core/Manifest.h"
#include "core/Options.h"
#include "core/Progress.h"

#include <functional>
#include <vector>

namespace par::rt {

/// Sleeps as long as a function would take on a device of given rates. Each kernel takes the longer of what
/// its arithmetic and its memory take, each collective within a function what the emulated link takes, one
/// after the other; what would be started runs in its place.
class EmulatedKernels {
public:
  /// In the thread that sleeps. The package says what its functions consist of (checkEmulation).
  EmulatedKernels(const Manifest &manifest, int rank, EmulatedRates rates, comm::EmulatedLink link);

  /// Of an entry that calls a function; 0 of others.
  double seconds(int32_t action) const { return times[size_t(action)]; }
  /// Returns when the entry's time is over. The rank is seen to live meanwhile.
  void run(int32_t action, RankProgress &place) const;

private:
  std::vector<double> times; ///< by number of the action
};

/// Throws Error where it is asked for and the package lacks what it needs.
void checkEmulation(const RunOptions &options, const Manifest &manifest);

} // namespace par::rt
#endif
