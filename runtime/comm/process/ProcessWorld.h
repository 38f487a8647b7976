/// A rank that is a process: its transport, and the control channel beside it.
#ifndef PAR_COMM_PROCESS_PROCESSWORLD_H
#define PAR_COMM_PROCESS_PROCESSWORLD_H

#include "comm/message/MessageTransport.h"
#include "comm/process/Control.h"

namespace par::comm {

class ProcessWorld {
public:
  /// Every process of MPI's world calls it, after startMpi; the first `size` of them become the world. The
  /// others get null.
  static io::Status overMpi(int rank, int size, double timeout, std::unique_ptr<ProcessWorld> &world);

  /// Rank 0 listens on the port; the others look for it at this address.
  static io::Status overTcp(int rank, int size, const std::string &address, int port, double timeout,
                            std::unique_ptr<ProcessWorld> &world);

  int rank() const { return number; }
  int size() const { return count; }
  Control &control() { return *channel; }
  MessageTransport &transport() { return *end; }

private:
  ProcessWorld(int rank, int size) : number(rank), count(size) {}
  void useMessages(std::unique_ptr<Messages> messages);

  const int number, count;
  std::unique_ptr<Control> channel;
  std::unique_ptr<MessageTransport> end;
};

} // namespace par::comm
#endif
