/// TCP connections between the processes of a job.
#ifndef PAR_COMM_PROCESS_SOCKET_H
#define PAR_COMM_PROCESS_SOCKET_H

#include "comm/process/Address.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace par::comm {

using Clock = std::chrono::steady_clock;

Clock::time_point after(double seconds);
/// Milliseconds to a deadline, for poll.
int millisecondsTo(Clock::time_point deadline);

/// An open descriptor, closed with its owner.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor(descriptor) {}
  Socket(Socket &&other) noexcept : descriptor(other.descriptor) { other.descriptor = -1; }
  Socket &operator=(Socket &&other) noexcept;
  ~Socket() { close(); }
  void close();
  bool isOpen() const { return descriptor >= 0; }
  int get() const { return descriptor; }
  /// The address of this machine that the connection uses, and the other end's.
  Address ownEnd() const;
  Address otherEnd() const;

private:
  int descriptor = -1;
};

/// A port of one address, or of every interface. Connections are refused until `listen`.
class Listener {
public:
  /// Takes the port of the first address that can be had; of every interface where there are none. `port` 0
  /// takes any that is free.
  io::Status bind(const std::vector<Address> &addresses, int port);
  io::Status listen();
  /// The next connection, if one waits; never blocks. False with `full` when the process has no descriptor
  /// left.
  bool accept(Socket &connection, bool &full);
  const Socket &get() const { return socket; }
  int port() const { return socket.ownEnd().port(); }
  /// Empty: every interface.
  std::string host() const;

private:
  Socket socket;
};

/// One attempt, of two seconds at most: an address may belong to a network that swallows packets.
io::Status connectTo(const Address &address, Clock::time_point deadline, Socket &connection);

/// Whole buffers, or an error: the other end is gone, or the deadline passed.
io::Status sendAll(const Socket &socket, const void *data, size_t bytes, Clock::time_point deadline);
io::Status receiveAll(const Socket &socket, void *data, size_t bytes, Clock::time_point deadline);

} // namespace par::comm
#endif
