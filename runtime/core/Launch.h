/// How this process was started: alone, or by a launcher as one of several.
#ifndef PAR_CORE_LAUNCH_H
#define PAR_CORE_LAUNCH_H

#include <string>

namespace par::rt {

/// nccl: GPUs talk by NCCL, and their hosts by mpi or tcp.
enum class TransportKind { automatic, local, mpi, tcp, nccl };

enum class LauncherKind { none, torchrun, deepspeed, mpirun, byHand, hydra, slurm, pmix };

struct Launch {
  int rank = 0;
  int size = 0; ///< 0: no launcher
  LauncherKind kind = LauncherKind::none;
  std::string by;      ///< "OMPI_COMM_WORLD_SIZE=4"
  std::string problem; ///< why the variables do not say what this process is; then there is no size
  bool mpi = false;    ///< the launcher is one that MPI_Init understands
  std::string address; ///< MASTER_ADDR, MASTER_PORT: where rank 0 is to be found by TCP
  int port = 0;
  int processManager = -1;  ///< PMI_FD: carries where rank 0 is to be found; -1: there is none
  std::string secretFile;   ///< PAR_SECRET_FILE: known to all processes of a job over TCP on several machines
  bool lacksSecret = false; ///< the step's machines are several, and none names a secret
  bool isOfStep = false;    ///< Slurm numbers the processes in the same way
  int sizeByHand = 0;       ///< WORLD_SIZE, with RANK or without it; 0: not set
};

/// Reads the variables that mpirun, srun, torchrun and others set; the innermost launcher counts. Throws
/// Error for values that none can have.
Launch findLaunch();

/// Where processes meet that the launcher's variables bring together (MeetingPlace.cpp): Slurm's say on which
/// machine rank 0 is, Open MPI's when there is one machine alone. Unchanged where they say nothing of it, or
/// MASTER_ADDR does.
Launch meetWithoutMpi(Launch launch);

/// The first host of a list as Slurm writes it, "node[07-09,12],other" → "node07", and whether it is the only
/// one.
std::string firstHost(const std::string &list, bool &isOnly);

/// Whether a text is such a list: names with commas between, and ranges in closed brackets within names.
bool isHostList(const std::string &list);

/// The same for a process that was told its rank; `size` holds where WORLD_SIZE does not say otherwise.
/// Throws Error.
Launch launchByHand(Launch launch, int rank, int size);

/// The transport to use between hosts: local, mpi or tcp. Throws Error when `wanted` does not go with the
/// launcher, and where there is a problem.
TransportKind chooseTransport(const Launch &launch, TransportKind wanted);

} // namespace par::rt
#endif
