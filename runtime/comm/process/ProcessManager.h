/// A launcher's process manager that speaks PMI-1 (MPICH's Hydra, Slurm's pmi2) at the other end of PMI_FD.
#ifndef PAR_COMM_PROCESS_PROCESSMANAGER_H
#define PAR_COMM_PROCESS_PROCESSMANAGER_H

#include "par/io/Status.h"

#include <string>

namespace par::comm {

/// Every process of a job calls it once: what rank 0 has in `text`, any bytes, all have afterwards. The
/// descriptor stays open. An error where the manager, or some process, does nothing for so many seconds.
io::Status broadcastByProcessManager(int descriptor, int rank, double timeout, std::string &text);

} // namespace par::comm
#endif
