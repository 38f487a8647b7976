/// TCP connections between the processes of a job.
#ifndef PAR_COMM_PROCESS_SOCKET_H
#define PAR_COMM_PROCESS_SOCKET_H

#include "par/io/Status.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace par::comm {

using Clock = std::chrono::steady_clock;

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

private:
  int descriptor = -1;
};

/// Waits for connections on every interface.
struct Listener {
  Socket socket;
  int port = 0;
};

/// `port` 0 takes any that is free.
io::Status listenOn(int port, int expected, Listener &listener);

/// The next connection; an error when none comes before the deadline.
io::Status acceptFrom(const Listener &listener, Clock::time_point deadline, Socket &connection);

/// Connects to the first of the hosts (names or addresses) that answers; tries again until the deadline.
io::Status connectTo(const std::vector<std::string> &hosts, int port, Clock::time_point deadline,
                     Socket &connection);

/// Addresses of this machine that others may reach, those of the machine itself last.
std::vector<std::string> ownAddresses();

/// Keeps connections of other programs out of a job.
uint64_t randomToken();

/// Port, token and addresses as one line of text, for others to connect.
std::string invitation(int port, uint64_t token);

/// Whole buffers, or an error: the other end is gone, or the deadline passed.
io::Status sendAll(const Socket &socket, const void *data, size_t bytes, Clock::time_point deadline);
io::Status receiveAll(const Socket &socket, void *data, size_t bytes, Clock::time_point deadline);

} // namespace par::comm
#endif
