/// Messages by Open MPI. A group is a communicator of its own.
#ifndef PAR_COMM_MPI_MPIMESSAGES_H
#define PAR_COMM_MPI_MPIMESSAGES_H

#include "comm/message/Messages.h"

#include <string>

namespace par::comm {

/// False when the runtime was built where Open MPI's headers are not.
bool builtWithMpi();

/// MPI_Init. All of MPI is called by one thread at a time. Once per process.
io::Status startMpi(int &rank, int &size);
/// The same text on every rank: that of rank 0.
io::Status broadcastByMpi(std::string &text);
/// For ranks 0 … size - 1 of MPI's world.
std::unique_ptr<Messages> openMpiMessages(int rank, int size);
/// MPI_Finalize, when all ranks have finished.
void stopMpi();

} // namespace par::comm
#endif
