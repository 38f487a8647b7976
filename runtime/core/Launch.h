/// How this process was started: alone, or by a launcher as one of several.
#ifndef PAR_CORE_LAUNCH_H
#define PAR_CORE_LAUNCH_H

#include <string>

namespace par::rt {

/// nccl: GPUs talk by NCCL, and their hosts by mpi or tcp.
enum class TransportKind { automatic, local, mpi, tcp, nccl };

struct Launch {
  int rank = 0;
  int size = 0;        ///< 0: no launcher
  std::string by;      ///< "OMPI_COMM_WORLD_SIZE=4"
  bool mpi = false;    ///< the launcher is one that MPI_Init understands
  std::string address; ///< MASTER_ADDR, MASTER_PORT: where rank 0 is to be found by TCP
  int port = 0;
  int processManager = -1; ///< PMI_FD: carries where rank 0 is to be found; -1: there is none
  std::string secretFile; ///< PAR_SECRET_FILE: known to all processes of a job over TCP on several machines
};

/// Reads the variables that mpirun, srun and torchrun set. Throws Error when they contradict each other.
Launch findLaunch();

/// Where processes meet that the launcher's variables bring together: Slurm's say on which machine rank 0 is,
/// Open MPI's when there is one machine alone. Unchanged where they say nothing of it, or MASTER_ADDR does.
Launch meetWithoutMpi(Launch launch);

/// The same for a process that was told its rank; `size` holds where no launcher says otherwise. Throws
/// Error.
Launch launchByHand(Launch launch, int rank, int size);

/// The transport to use between hosts: local, mpi or tcp. Throws Error when `wanted` does not go with the
/// launcher.
TransportKind chooseTransport(const Launch &launch, TransportKind wanted);

} // namespace par::rt
#endif
