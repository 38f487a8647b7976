//===- ClusterTarget.cpp - plans are for the devices of the cluster -------------------------------------===//
#include "ClusterTarget.h"
#include "par/Compile/PlanFlags.h"
#include "par/Support/MakeError.h"
#include "par/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::par;
using llvm::Error;
using llvm::StringRef;

/// Of sm_90 and sm_90a 90.
static int64_t getArchitecture(StringRef chip) {
  int64_t number = 0;
  chip.consume_front("sm_");
  chip.take_while(llvm::isDigit).getAsInteger(10, number);
  return number;
}

/// What has a letter is for its own architecture alone.
static bool runs(StringRef device, StringRef chip) {
  if (!llvm::isDigit(chip.back()))
    return getArchitecture(chip) == getArchitecture(device);
  return getArchitecture(chip) <= getArchitecture(device);
}

/// The newest that the devices run, else none. What has a letter has to be asked for.
static std::optional<ChipKind> findNewest(const Target &target, StringRef device) {
  std::optional<ChipKind> newest;
  for (ChipKind chip : target.getChips()) {
    StringRef name = getName(chip);
    if (!llvm::isDigit(name.back()) || !runs(device, name))
      continue;
    if (!newest || getArchitecture(getName(*newest)) < getArchitecture(name))
      newest = chip;
  }
  return newest;
}

static std::string listChips(const Target &target) {
  return llvm::join(llvm::map_range(target.getChips(), [](ChipKind chip) { return getName(chip).str(); }),
                    ", ");
}

Error mlir::par::takeClusterTarget(Plan &plan, const std::set<std::string> &given, const Cluster &cluster) {
  if (given.count("target") && plan.target != cluster.target)
    return makeError("--target " + getName(plan.target) + ": the devices of " + cluster.name +
                     " are of target " + getName(cluster.target) +
                     "; leave the flag out, or take a cluster "
                     "file of such devices");
  plan.target = cluster.target;
  const Target *target = findTarget(plan.target);
  if (cluster.target == TargetKind::Cpu || !target) {
    completeChip(plan, given);
    return Error::success();
  }
  std::optional<ChipKind> newest = findNewest(*target, cluster.chip);
  if (!newest)
    return makeError("cluster " + cluster.name + ": chip " + cluster.chip +
                     " runs no code that is made for " + listChips(*target) +
                     "; take a cluster file of newer devices");
  if (!given.count("chip"))
    plan.chip = *newest;
  else if (llvm::is_contained(target->getChips(), plan.chip) && !runs(cluster.chip, getName(plan.chip)))
    return makeError("--chip " + getName(plan.chip) + ": the devices of " + cluster.name + " are " +
                     cluster.chip + "; give --chip " + getName(*newest) + ", or leave it out");
  return Error::success();
}
