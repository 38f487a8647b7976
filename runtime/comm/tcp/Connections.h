/// A TCP connection between any two ranks of a job.
#ifndef PAR_COMM_TCP_CONNECTIONS_H
#define PAR_COMM_TCP_CONNECTIONS_H

#include "comm/process/Control.h"

namespace par::comm {

/// Opens them all; both ends of each have proved to know the job's key. `sockets` is by rank, the own one
/// closed.
io::Status connectAll(Control &control, int rank, int size, const std::string &host,
                      Clock::time_point deadline, std::vector<Socket> &sockets);

} // namespace par::comm
#endif
