#include "core/Launch.h"

#include "core/Error.h"

#include <cstdint>
#include <cstdlib>
#include <initializer_list>

namespace par::rt {

static const char *variable(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? value : nullptr;
}

static int number(const char *name, int low, int high) {
  char *end = nullptr;
  long value = std::strtol(variable(name), &end, 10);
  if (*end || value < low || value > high)
    throw Error(std::string("the launcher's variable ") + name + "=" + variable(name) +
                " is no number from " + std::to_string(low) + " to " + std::to_string(high));
  return int(value);
}

namespace {
/// Variables of one launcher. The size comes first: it is what says that there are several processes.
struct Names {
  const char *size, *rank;
  bool mpi;
};
} // namespace

static void readMaster(Launch &launch) {
  if (variable("PAR_SECRET_FILE"))
    launch.secretFile = variable("PAR_SECRET_FILE");
  if (!variable("MASTER_ADDR") || !variable("MASTER_PORT"))
    return;
  launch.address = variable("MASTER_ADDR");
  launch.port = number("MASTER_PORT", 1, 65535);
  // torchrun's own agent listens on the port itself.
  if (variable("TORCHELASTIC_USE_AGENT_STORE") &&
      std::string(variable("TORCHELASTIC_USE_AGENT_STORE")) == "True")
    launch.port += launch.port < 65535 ? 1 : -1;
}

Launch findLaunch() {
  // mpirun may run within srun, and torchrun within both: the innermost is asked first. SLURM_NTASKS would be
  // set in a batch script too, outside of srun.
  bool slurmWithMpi = variable("PMIX_RANK") || variable("PMI_FD");
  Launch launch;
  readMaster(launch);
  for (Names names :
       {Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", true}, Names{"WORLD_SIZE", "RANK", false},
        Names{"PMI_SIZE", "PMI_RANK", true}, Names{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", slurmWithMpi}}) {
    if (!variable(names.size) || !variable(names.rank))
      continue;
    launch.size = number(names.size, 1, 1 << 24);
    launch.rank = number(names.rank, 0, launch.size - 1);
    launch.by = std::string(names.size) + "=" + variable(names.size);
    launch.mpi = names.mpi;
    if (names.size == std::string("PMI_SIZE") && variable("PMI_FD"))
      launch.processManager = number("PMI_FD", 0, 1 << 20);
    break;
  }
  return launch;
}

/// "node[07-09,12],other" → "node07"
static std::string firstHost(const std::string &list) {
  std::string name = list.substr(0, list.find_first_of(",["));
  if (name.size() < list.size() && list[name.size()] == '[')
    name += list.substr(name.size() + 1, list.find_first_of(",-]", name.size()) - name.size() - 1);
  return name;
}

/// The same for all processes of a job, and below the ports that systems give away.
static int portOf(const std::string &job) {
  uint32_t hash = 2166136261u; // FNV-1a
  for (char letter : job)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return 20000 + int(hash % 10000);
}

Launch meetWithoutMpi(Launch launch) {
  auto isOnOneMachine = [&] {
    return variable("OMPI_COMM_WORLD_LOCAL_SIZE") &&
           launch.by == std::string("OMPI_COMM_WORLD_SIZE=") + variable("OMPI_COMM_WORLD_LOCAL_SIZE");
  };
  if (!launch.address.empty())
    return launch;
  const char *nodes = variable("SLURM_STEP_NODELIST"), *job = variable("SLURM_JOB_ID");
  if (launch.by.rfind("SLURM_", 0) == 0 && nodes && job) {
    const char *step = variable("SLURM_STEP_ID");
    launch.address = firstHost(nodes);
    launch.port = portOf(std::string(job) + "." + (step ? step : ""));
  } else if (isOnOneMachine() && variable("PMIX_NAMESPACE")) {
    launch.address = "127.0.0.1";
    launch.port = portOf(variable("PMIX_NAMESPACE"));
  }
  return launch;
}

Launch launchByHand(Launch launch, int rank, int size) {
  if (launch.size == 0)
    launch.size = size;
  if (rank >= launch.size)
    throw Error("--rank " + std::to_string(rank) + " is not one of the " + std::to_string(launch.size) +
                " ranks; they count from 0");
  launch.rank = rank;
  launch.by = "--rank " + std::to_string(rank);
  launch.mpi = false, launch.processManager = -1;
  if (launch.address.empty())
    launch.address = "127.0.0.1", launch.port = 29500;
  return launch;
}

TransportKind chooseTransport(const Launch &launch, TransportKind wanted) {
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
  return wanted;
}

} // namespace par::rt
