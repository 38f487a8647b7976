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

  /// The same for processes of a launcher whose process manager is at the other end of a descriptor.
  static io::Status overProcessManager(int rank, int size, int descriptor, double timeout,
                                       std::unique_ptr<ProcessWorld> &world);

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
  /// Brings what rank 0 has in a text to all; also where it has nothing to say, since the others wait for it.
  using Carry = std::function<io::Status(std::string &text)>;
  /// The control channel of processes that are invited by rank 0. `host`: where this one is to listen for
  /// others.
  static io::Status byInvitation(int rank, int size, double timeout, const Carry &carry,
                                 std::unique_ptr<ProcessWorld> &made, std::string &host);
  void start(double timeout, OpenMessages open);
  void startTcp(const std::string &host, double timeout, Clock::time_point deadline);

  const int number, count;
  std::unique_ptr<Control> channel;
  std::unique_ptr<MessageTransport> end;
  OpenMessages openMessages;
};

} // namespace par::comm
#endif
