/// Short names of actions, as par-schedule prints them: "F3", "B1b", "sF1" (docs/Schedules.md).
#ifndef PAR_CORE_ACTIONNAMES_H
#define PAR_CORE_ACTIONNAMES_H

#include "core/Manifest.h"

namespace par::rt {

// By their names in the manifest.
bool beginsMessage(const Action &action);
/// It waits for one.
bool endsMessage(const Action &action);
/// A sum over stages.
bool isSum(const Action &action);

class ActionNames {
public:
  explicit ActionNames(const Manifest &manifest);
  std::string describe(const Action &action) const;

private:
  std::vector<std::string> turns; ///< by chunk: a letter where stages have several
};

} // namespace par::rt
#endif
