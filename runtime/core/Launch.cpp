#include "comm/process/Meeting.h"
#include "core/Error.h"
#include "core/Launchers.h"
#include "core/OtherLaunchers.h"

#include <algorithm>

namespace par::rt {

/// Whether another launcher's numbers may stand beside those that count.
static bool goTogether(const LaunchClaim &counts, const LaunchClaim &other) {
  bool sameSize = !other.size || other.size == counts.size;
  bool sameRank = other.rank < 0 || other.rank == counts.rank;
  bool startedOne = other.isComplete() && other.size == 1;
  if ((sameSize && sameRank) || startedOne || other.kind == LauncherKind::pmix)
    return true;
  // It started the launcher that counts: once per machine, or its processes on other machines. If it started
  // more of them than one run has, there are several runs, and each would write the same files.
  bool isInner = counts.isMarked();
  bool startsDaemons = other.kind == LauncherKind::slurm &&
                       (counts.kind == LauncherKind::mpirun || counts.kind == LauncherKind::hydra);
  return (isInner || startsDaemons) && other.size <= (counts.groups ? counts.groups : counts.size);
}

static std::string contradiction(const LaunchClaim &counts, const LaunchClaim &other) {
  bool isOfSeveral = counts.isMarked() && counts.groups && other.size > counts.groups;
  return textOf(counts) + " and " + textOf(other) + " contradict each other" +
         (isOfSeveral
              ? " (there are several runs, which would write the same files; torchrun --nnodes makes one)"
              : "") +
         "; let one launcher start par, or take away what is left over of another: " +
         (other.isComplete() ? commandWithout(counts) + " par-run ..., or " : "") + commandWithout(other) +
         " par-run ...";
}

/// What is said by halves says that there are several processes, but not which of them this one is.
static std::string incompleteness(const LaunchClaim &claim) {
  if (claim.size == 1 || claim.isComplete())
    return "";
  std::string lacks = claim.kind == LauncherKind::pmix ? "how many processes there are"
                      : claim.rank < 0                 ? "which of the processes this is"
                                                       : "how many processes there are";
  return textOf(claim) + " is set, but nothing says " + lacks +
         "; set RANK and WORLD_SIZE, or start par without it: " + commandWithout(claim) + " par-run ...";
}

/// The claim that counts: the innermost of several processes. A launcher that started one process has added
/// nothing to what the one around it says.
static const LaunchClaim *innermost(const std::vector<LaunchClaim> &claims) {
  const LaunchClaim *alone = nullptr;
  for (const LaunchClaim &claim : claims) {
    if (claim.isComplete() && claim.size > 1)
      return &claim;
    if (claim.isComplete() && !alone)
      alone = &claim;
  }
  return alone;
}

static std::string problemOf(const std::vector<LaunchClaim> &claims, const LaunchClaim *counts) {
  for (const LaunchClaim &claim : claims)
    if (counts && &claim != counts && !goTogether(*counts, claim))
      return contradiction(*counts, claim);
  for (const LaunchClaim &claim : claims)
    if (std::string problem = counts ? "" : incompleteness(claim); !problem.empty())
      return problem;
  return counts && counts->size > 1 ? "" : otherLauncherProblem();
}

/// "WORLD_SIZE=4", and what it was preferred to: "WORLD_SIZE=4, not OMPI_COMM_WORLD_SIZE=2".
static std::string describe(const std::vector<LaunchClaim> &claims, const LaunchClaim &counts) {
  auto size = [](const LaunchClaim &claim) {
    return std::string(claim.names.front()) + "=" + variable(claim.names.front());
  };
  std::string text = size(counts);
  for (const LaunchClaim &claim : claims)
    if (claim.size && claim.size != counts.size)
      text += ", not " + size(claim);
  return text;
}

/// Where rank 0 is, as far as MASTER_ADDR and MASTER_PORT say. They are not those of this run where torchrun
/// set them for one process.
static void readMaster(Launch &launch, const std::vector<LaunchClaim> &claims) {
  bool isOthers = std::any_of(claims.begin(), claims.end(), [&](const LaunchClaim &claim) {
    return claim.isMarked() && claim.isComplete() && claim.kind != launch.kind;
  });
  if (isOthers || !variable("MASTER_ADDR") || !variable("MASTER_PORT"))
    return;
  launch.address = variable("MASTER_ADDR");
  launch.port = number("MASTER_PORT", 1, 65535);
  // torchrun's own agent listens on the port itself.
  const char *agent = variable("TORCHELASTIC_USE_AGENT_STORE");
  if (agent && agent == std::string("True"))
    launch.port += launch.port < 65535 ? 1 : -1;
}

/// Whether MPI_Init finds the others: those of mpirun, and of srun where no mpirun lies between.
static bool isOfMpi(const LaunchClaim &counts, const std::vector<LaunchClaim> &claims) {
  bool underMpirun = std::any_of(claims.begin(), claims.end(),
                                 [](const LaunchClaim &claim) { return claim.kind == LauncherKind::mpirun; });
  return counts.kind == LauncherKind::mpirun || counts.kind == LauncherKind::hydra ||
         (counts.kind == LauncherKind::slurm && variable("PMIX_RANK") && !underMpirun);
}

static bool isStepOf(const std::vector<LaunchClaim> &claims, const LaunchClaim &counts) {
  return std::any_of(claims.begin(), claims.end(), [&](const LaunchClaim &claim) {
    return claim.kind == LauncherKind::slurm && claim.size == counts.size && claim.rank == counts.rank;
  });
}

Launch findLaunch() {
  std::vector<LaunchClaim> claims = readLaunchClaims();
  const LaunchClaim *counts = innermost(claims);
  Launch launch;
  if (variable("PAR_SECRET_FILE"))
    launch.secretFile = variable("PAR_SECRET_FILE");
  for (const LaunchClaim &claim : claims)
    if (claim.isMarked() || claim.kind == LauncherKind::byHand)
      launch.sizeByHand = claim.size;
  launch.problem = problemOf(claims, counts);
  if (counts && launch.problem.empty()) {
    launch.kind = counts->kind;
    launch.size = counts->size, launch.rank = counts->rank;
    launch.by = describe(claims, *counts);
    launch.mpi = isOfMpi(*counts, claims);
    launch.isOfStep = isStepOf(claims, *counts);
    if (launch.kind == LauncherKind::hydra && variable("PMI_FD"))
      launch.processManager = number("PMI_FD", 0, 1 << 20);
  }
  readMaster(launch, claims);
  return launch;
}

Launch launchByHand(Launch launch, int rank, int size) {
  launch.size = launch.sizeByHand ? launch.sizeByHand : size;
  std::string said = launch.sizeByHand ? "WORLD_SIZE=" + std::to_string(launch.size) : "";
  if (rank >= launch.size)
    throw Error("--rank " + std::to_string(rank) + " is not one of the " + std::to_string(launch.size) +
                " ranks" + (said.empty() ? "" : " of " + said) + "; they count from 0");
  launch.rank = rank;
  launch.by = "--rank " + std::to_string(rank) + (said.empty() ? "" : ", " + said);
  launch.kind = LauncherKind::byHand, launch.problem.clear();
  launch.mpi = launch.isOfStep = false, launch.processManager = -1;
  if (launch.address.empty())
    launch.address = "127.0.0.1", launch.port = 29500;
  return launch;
}

TransportKind chooseTransport(const Launch &launch, TransportKind wanted) {
  if (!launch.problem.empty())
    throw Error(launch.problem);
  const TransportKind asked = wanted;
  bool several = launch.size > 1, master = !launch.address.empty() || launch.processManager >= 0;
  if (wanted == TransportKind::nccl && launch.size < 1)
    throw Error("--transport nccl needs a process with a GPU for each rank; start them with mpirun, srun or "
                "torchrun, or leave it out, and all ranks are threads on one GPU");
  if (wanted == TransportKind::nccl)
    wanted = master ? TransportKind::tcp : TransportKind::mpi;
  if (wanted == TransportKind::automatic)
    wanted = !several                ? TransportKind::local
             : launch.mpi || !master ? TransportKind::mpi
                                     : TransportKind::tcp;
  if (wanted == TransportKind::mpi && asked == TransportKind::automatic && !launch.mpi)
    throw Error(launch.by +
                " says that this is one of several processes, but not where rank 0 is; set "
                "MASTER_ADDR and MASTER_PORT in every process's environment, or start them by mpirun");
  if (wanted == TransportKind::local && several)
    throw Error("--transport local runs all ranks in one process, but this is one of several (" + launch.by +
                "); start it without a launcher, or leave --transport out");
  if (wanted == TransportKind::mpi && !launch.mpi)
    throw Error(
        std::string("--transport mpi needs mpirun, or srun --mpi=pmix, which start one process per rank; ") +
        (several ? "for processes of another launcher (" + launch.by + ") set MASTER_ADDR and MASTER_PORT"
                 : "run mpirun -np RANKS par-run ..."));
  if (wanted == TransportKind::tcp && (launch.size < 1 || !master))
    throw Error("--transport tcp needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in every process's "
                "environment; set them, start it by mpiexec.hydra, or leave --transport out");
  if (wanted == TransportKind::tcp && launch.lacksSecret)
    throw Error("the step of srun has several machines (" + launch.by + "), and " + comm::sharingASecret +
                "; or start it with srun --mpi=pmix");
  return wanted;
}

} // namespace par::rt
