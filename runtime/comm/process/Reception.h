/// The end of a handshake that listens: takes in the processes of the job, however many others knock.
#ifndef PAR_COMM_PROCESS_RECEPTION_H
#define PAR_COMM_PROCESS_RECEPTION_H

#include "comm/process/Handshake.h"

#include <functional>
#include <list>

namespace par::comm {

/// Asked while waiting: why it makes no sense to wait on, or nothing.
using Interrupt = std::function<io::Status()>;

class Reception {
public:
  /// A process that has proved to know the key.
  struct Guest {
    int rank, size;
    Socket connection;
  };
  /// Keeps the guest, or says why it cannot be one. Whatever is said ends the reception.
  using Admit = std::function<io::Status(Guest &guest)>;

  /// `job`: a random number that all guests are told, or nothing.
  Reception(Listener &listener, Door door, std::string job);

  /// Lets guests in until `complete` is true. An error: the deadline, what `admit` or `interrupt` say.
  io::Status receive(const std::function<bool()> &complete, Clock::time_point deadline, const Admit &admit,
                     const Interrupt &interrupt);

  /// Connections that were turned away because they did not know the key, and the address of the last one.
  int strangers() const { return turnedAway; }
  const std::string &lastStranger() const { return last; }

private:
  /// A connection that has not proved anything yet. All are served at once, none is waited for.
  struct Knock {
    Socket connection;
    Clock::time_point deadline;
    std::string heard, challenge; ///< no challenge: the hello is awaited
    Hello hello{};
  };
  enum class State { waiting, left, proved };

  void wait(Clock::time_point deadline);
  void acceptAll();
  State listenTo(Knock &knock);
  State answer(Knock &knock);
  io::Status admitGuest(Knock &knock, const Admit &admit);

  Listener &listener;
  const Door door;
  const std::string job;
  std::list<Knock> knocks; ///< the oldest first
  int turnedAway = 0;
  std::string last;
};

} // namespace par::comm
#endif
