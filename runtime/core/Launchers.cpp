#include "core/Launchers.h"

#include "core/Error.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace par::rt {

namespace {
constexpr int mostProcesses = 1 << 24;
constexpr const char *none = nullptr;

/// Names of one launcher's variables. Of several names for a size the first that is set counts.
struct Names {
  LauncherKind kind;
  bool (*isThere)();
  std::vector<const char *> sizes;
  const char *rank;
  const char *groups;
  const char *localSize, *localRank;
  std::vector<const char *> marks; ///< what makes `isThere` true, beside size and rank
};
} // namespace

const char *variable(const char *name) {
  const char *value = name ? std::getenv(name) : nullptr;
  return value && *value ? value : nullptr;
}

static int64_t wideNumber(const char *name, int64_t low, int64_t high) {
  char *end = nullptr;
  int64_t value = std::strtol(variable(name), &end, 10);
  if (*end || value < low || value > high)
    throw Error(std::string("the launcher's variable ") + name + "=" + variable(name) +
                " is no number from " + std::to_string(low) + " to " + std::to_string(high));
  return value;
}

int number(const char *name, int low, int high) { return int(wideNumber(name, low, high)); }

static bool always() { return true; }

static bool isTorchrun() { return variable("TORCHELASTIC_RUN_ID"); }

/// DeepSpeed's launcher sets CROSS_SIZE, the number of its machines, and torchrun's names for the rest.
static bool isDeepSpeed() { return !isTorchrun() && variable("CROSS_SIZE"); }

static bool isByHand() { return !isTorchrun() && !isDeepSpeed(); }

static bool isNameOfStep(const std::string &id) {
  return id == "batch" || id == "extern" || id == "interactive" || id == "TBD";
}

/// srun starts a step. The script of sbatch, and the shell of salloc, are one process with a few of the same
/// variables: it has no step, or one with a name or a number that no step of srun has.
static bool isStep() {
  const char *name = variable("SLURM_STEP_ID") ? "SLURM_STEP_ID" : "SLURM_STEPID";
  if (!variable(name))
    return variable("SLURM_STEP_NUM_TASKS");
  constexpr int64_t firstReserved = 0xfffffff0;
  return !isNameOfStep(variable(name)) && wideNumber(name, 0, UINT32_MAX) < firstReserved;
}

static const std::vector<Names> &launchers() {
  using Kind = LauncherKind;
  // mpirun starts torchrun, not the other way round; what people set by hand is often mpirun's or srun's
  // number by another name; and mpirun's own processes on other machines may be started by srun.
  static const std::vector<Names> all = {
      {Kind::torchrun,
       isTorchrun,
       {"WORLD_SIZE"},
       "RANK",
       "GROUP_WORLD_SIZE",
       "LOCAL_WORLD_SIZE",
       "LOCAL_RANK",
       {"TORCHELASTIC_RUN_ID"}},
      {Kind::deepspeed,
       isDeepSpeed,
       {"WORLD_SIZE"},
       "RANK",
       "CROSS_SIZE",
       "LOCAL_SIZE",
       "LOCAL_RANK",
       {"CROSS_SIZE"}},
      {Kind::mpirun,
       always,
       {"OMPI_COMM_WORLD_SIZE"},
       "OMPI_COMM_WORLD_RANK",
       none,
       "OMPI_COMM_WORLD_LOCAL_SIZE",
       "OMPI_COMM_WORLD_LOCAL_RANK",
       {}},
      {Kind::byHand, isByHand, {"WORLD_SIZE"}, "RANK", none, "LOCAL_WORLD_SIZE", "LOCAL_RANK", {}},
      {Kind::hydra, always, {"PMI_SIZE"}, "PMI_RANK", none, none, none, {}},
      {Kind::slurm,
       isStep,
       {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"},
       "SLURM_PROCID",
       none,
       none,
       "SLURM_LOCALID",
       {"SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_NUM_TASKS"}},
      {Kind::pmix, always, {}, "PMIX_RANK", none, none, none, {}},
  };
  return all;
}

static void checkLocal(const Names &names, const LaunchClaim &claim) {
  if (!claim.isComplete() || !variable(names.localRank))
    return;
  int localSize = variable(names.localSize) ? number(names.localSize, 1, claim.size) : claim.size;
  number(names.localRank, 0, localSize - 1);
}

static LaunchClaim readClaim(const Names &names) {
  LaunchClaim claim;
  claim.kind = names.kind;
  auto size = std::find_if(names.sizes.begin(), names.sizes.end(), variable);
  if (size != names.sizes.end()) {
    claim.size = number(*size, 1, mostProcesses);
    claim.names.push_back(*size);
  }
  if (variable(names.rank)) {
    claim.rank = number(names.rank, 0, (claim.size ? claim.size : mostProcesses) - 1);
    claim.names.push_back(names.rank);
  }
  if (claim.isMarked() && claim.names.empty())
    claim.names.push_back(names.marks.front());
  claim.unsetting = claim.names;
  if (variable(names.groups)) {
    claim.groups = number(names.groups, 1, mostProcesses);
    if (claim.names.front() != names.groups)
      claim.names.push_back(names.groups);
  }
  checkLocal(names, claim);
  for (const char *mark : names.marks)
    if (variable(mark) && std::find(claim.names.begin(), claim.names.end(), mark) == claim.names.end())
      claim.unsetting.push_back(mark);
  return claim;
}

/// Slurm's own PMI says what srun says; no launcher of MPI is there.
static void dropPmiOfSlurm(std::vector<LaunchClaim> &claims) {
  auto find = [&](LauncherKind kind) {
    return std::find_if(claims.begin(), claims.end(),
                        [&](const LaunchClaim &claim) { return claim.kind == kind && claim.isComplete(); });
  };
  auto hydra = find(LauncherKind::hydra), slurm = find(LauncherKind::slurm);
  if (hydra != claims.end() && slurm != claims.end() && hydra->size == slurm->size &&
      hydra->rank == slurm->rank)
    claims.erase(hydra);
}

std::vector<LaunchClaim> readLaunchClaims() {
  std::vector<LaunchClaim> claims;
  for (const Names &names : launchers()) {
    if (!names.isThere())
      continue;
    if (LaunchClaim claim = readClaim(names); !claim.names.empty())
      claims.push_back(std::move(claim));
  }
  dropPmiOfSlurm(claims);
  return claims;
}

std::string textOf(const LaunchClaim &claim) {
  std::string text;
  for (const char *name : claim.names)
    text += std::string(text.empty() ? "" : ", ") + name + "=" + variable(name);
  return text;
}

std::string commandWithout(const LaunchClaim &claim) {
  std::string text = "env";
  for (const char *name : claim.unsetting)
    text += std::string(" -u ") + name;
  return text;
}

} // namespace par::rt
