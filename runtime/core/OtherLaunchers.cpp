#include "core/OtherLaunchers.h"

#include "core/Launchers.h"

namespace par::rt {

namespace {
/// The meaning of a rank of 0 without a size.
enum class First { isOfSeveral, saysNothing };

struct OtherNames {
  const char *launcher;
  const char *rank, *size; ///< null: it has none that counts
  First first;
};
} // namespace

// The script of sbatch has SLURM_PROCID=0 and the size of the job. Programs leave LOCAL_RANK=0 behind.
constexpr OtherNames others[] = {
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", First::isOfSeveral},
    {"Intel MPI or MPICH", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", First::saysNothing},
    {"PALS", "PALS_RANKID", nullptr, First::isOfSeveral},
    {"ALPS", "ALPS_APP_PE", nullptr, First::isOfSeveral},
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", First::isOfSeveral},
    {"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", First::isOfSeveral},
    {"Horovod", "HOROVOD_RANK", "HOROVOD_SIZE", First::isOfSeveral},
    {"srun, without its SLURM_STEP_ID", "SLURM_PROCID", nullptr, First::saysNothing},
    {"by a script of its own", "LOCAL_RANK", "LOCAL_WORLD_SIZE", First::saysNothing},
};

static LaunchClaim readClaim(const OtherNames &names) {
  constexpr int most = 1 << 24;
  LaunchClaim claim;
  if (variable(names.size)) {
    claim.size = number(names.size, 1, most);
    claim.names.push_back(names.size);
  }
  if (variable(names.rank)) {
    claim.rank = number(names.rank, 0, (claim.size ? claim.size : most) - 1);
    claim.names.push_back(names.rank);
  }
  claim.unsetting = claim.names;
  return claim;
}

static bool isOfSeveral(const LaunchClaim &claim, First first) {
  return claim.size > 1 || claim.rank > 0 || (claim.rank == 0 && !claim.size && first == First::isOfSeveral);
}

std::string otherLauncherProblem() {
  for (const OtherNames &names : others) {
    LaunchClaim claim = readClaim(names);
    if (isOfSeveral(claim, names.first))
      return textOf(claim) + " says that this is one of several processes (" + names.launcher +
             "), but not how they find each other; start par by mpirun, srun or torchrun, set RANK, "
             "WORLD_SIZE, "
             "MASTER_ADDR and MASTER_PORT, or take away what is left over: " +
             commandWithout(claim) + " par-run ...";
  }
  return "";
}

} // namespace par::rt
