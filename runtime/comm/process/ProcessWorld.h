/// A rank that is a process: its transport, and the control channel beside it.
#ifndef PAR_COMM_PROCESS_PROCESSWORLD_H
#define PAR_COMM_PROCESS_PROCESSWORLD_H

#include "comm/message/MessageTransport.h"
#include "comm/process/Control.h"
#include "comm/process/Meeting.h"

namespace par::comm {

class ProcessWorld {
public:
  /// Every process of MPI's world calls it, after startMpi; the first `size` of them become the world. The
  /// others get null. The control channel is open then, and no transport yet.
  static io::Status overMpi(int rank, int size, double timeout, std::unique_ptr<ProcessWorld> &world);

  /// The same for processes that know where to meet.
  static io::Status overTcp(int rank, int size, const Meeting &meeting, double timeout,
                            std::unique_ptr<ProcessWorld> &world);

  /// All ranks call it once, before they use `transport`.
  io::Status openTransport();

  int rank() const { return number; }
  int size() const { return count; }
  Control &control() { return *channel; }
  MessageTransport &transport() { return *end; }

private:
  using OpenMessages = std::function<io::Status(std::unique_ptr<Messages> &messages)>;
  ProcessWorld(int rank, int size)
      : number(rank), count(size), channel(std::make_unique<Control>(rank, size)) {}
  void start(double timeout, OpenMessages open);

  const int number, count;
  std::unique_ptr<Control> channel;
  std::unique_ptr<MessageTransport> end;
  OpenMessages openMessages;
};

} // namespace par::comm
#endif
