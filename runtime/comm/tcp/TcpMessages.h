/// Messages by TCP: a connection between any two ranks.
#ifndef PAR_COMM_TCP_TCPMESSAGES_H
#define PAR_COMM_TCP_TCPMESSAGES_H

#include "comm/message/Messages.h"
#include "comm/process/Control.h"

namespace par::comm {

/// Connects to all other ranks; `control` tells where they are. Every rank calls it, before control's
/// `start`.
io::Status openTcpMessages(Control &control, int rank, int size, Clock::time_point deadline,
                           std::unique_ptr<Messages> &messages);

} // namespace par::comm
#endif
