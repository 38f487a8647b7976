/// Messages by TCP: a connection between any two ranks for collectives, and one for routes.
#ifndef PAR_COMM_TCP_TCPMESSAGES_H
#define PAR_COMM_TCP_TCPMESSAGES_H

#include "comm/message/Messages.h"
#include "comm/process/Control.h"

namespace par::comm {

/// Connects to all other ranks; `control` tells where they are, and knows when one of them dies meanwhile.
/// Every rank calls it. This one listens at the address `host`, or everywhere when it is empty. Routes
/// are connected in `timeout` seconds, when they are.
io::Status openTcpMessages(Control &control, int rank, int size, const std::string &host, double timeout,
                           Clock::time_point deadline, std::unique_ptr<Messages> &messages);

} // namespace par::comm
#endif
