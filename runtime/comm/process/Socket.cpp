#include "comm/process/Socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

namespace par::comm {

static std::string reason() { return std::strerror(errno); }

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

int millisecondsTo(Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return int(std::clamp<int64_t>(left, 0, 1 << 30));
}

Socket &Socket::operator=(Socket &&other) noexcept {
  std::swap(descriptor, other.descriptor);
  return *this;
}

void Socket::close() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

Address Socket::ownEnd() const {
  Address address;
  address.length = sizeof(address.storage);
  getsockname(descriptor, address.get(), &address.length);
  return address;
}

Address Socket::otherEnd() const {
  Address address;
  address.length = sizeof(address.storage);
  getpeername(descriptor, address.get(), &address.length);
  return address;
}

static void setOption(const Socket &socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof(value));
}

/// True when `events` came before the deadline.
static bool await(const Socket &socket, short events, Clock::time_point deadline) {
  while (true) {
    pollfd entry{socket.get(), events, 0};
    int ready = poll(&entry, 1, millisecondsTo(deadline));
    if (ready > 0)
      return true;
    if (ready == 0 || errno != EINTR)
      return false;
  }
}

static bool tryBind(const Address &address, Socket &made) {
  made = Socket(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.isOpen())
    return false;
  setOption(made, SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.storage.ss_family == AF_INET6)
    setOption(made, IPPROTO_IPV6, IPV6_V6ONLY, address.isAny() ? 0 : 1);
  return ::bind(made.get(), address.get(), address.length) == 0;
}

/// Both families where the machine has IPv6, else IPv4.
static std::vector<Address> everyInterface() {
  std::vector<Address> any(2);
  sockaddr_in6 six{};
  sockaddr_in four{};
  six.sin6_family = AF_INET6, four.sin_family = AF_INET;
  std::memcpy(&any[0].storage, &six, any[0].length = sizeof(six));
  std::memcpy(&any[1].storage, &four, any[1].length = sizeof(four));
  return any;
}

io::Status Listener::bind(const std::vector<Address> &addresses, int port) {
  std::string problem;
  for (Address address : addresses.empty() ? everyInterface() : addresses) {
    address.setPort(port);
    if (tryBind(address, socket))
      return {};
    std::string cause = errno == EADDRNOTAVAIL ? "it is no address of this machine" : reason();
    problem = "port " + std::to_string(port) + " of " + address.text() + " cannot be listened on: " + cause;
  }
  socket.close();
  return io::Status::error(problem);
}

io::Status Listener::listen() {
  if (::listen(socket.get(), SOMAXCONN) != 0)
    return io::Status::error("port " + std::to_string(port()) + " cannot be listened on: " + reason());
  return {};
}

static void prepareConnection(const Socket &socket) { setOption(socket, IPPROTO_TCP, TCP_NODELAY, 1); }

bool Listener::accept(Socket &connection, bool &full) {
  connection = Socket(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  full = !connection.isOpen() && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (connection.isOpen())
    prepareConnection(connection);
  return connection.isOpen();
}

std::string Listener::host() const {
  Address address = socket.ownEnd();
  return address.isAny() ? "" : address.text();
}

io::Status connectTo(const Address &address, Clock::time_point deadline, Socket &connection) {
  auto failed = [&](const std::string &why) {
    connection.close();
    return io::Status::error("no connection to " + address.text() + ", port " +
                             std::to_string(address.port()) + ": " + why);
  };
  connection = Socket(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection.isOpen())
    return failed(reason());
  if (connect(connection.get(), address.get(), address.length) != 0) {
    if (errno != EINPROGRESS)
      return failed(reason());
    if (!await(connection, POLLOUT, std::min(deadline, after(2))))
      return failed("no answer");
    int error = 0;
    socklen_t length = sizeof(error);
    getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0)
      return failed(std::strerror(error));
  }
  prepareConnection(connection);
  return {};
}

io::Status sendAll(const Socket &socket, const void *data, size_t bytes, Clock::time_point deadline) {
  const char *next = static_cast<const char *>(data);
  while (bytes) {
    ssize_t put = ::send(socket.get(), next, bytes, MSG_NOSIGNAL);
    if (put > 0) {
      next += put, bytes -= size_t(put);
      continue;
    }
    if (put < 0 && errno != EAGAIN && errno != EINTR)
      return io::Status::error("the connection broke: " + reason());
    if (!await(socket, POLLOUT, deadline))
      return io::Status::error("the other end did not read in time");
  }
  return {};
}

io::Status receiveAll(const Socket &socket, void *data, size_t bytes, Clock::time_point deadline) {
  char *next = static_cast<char *>(data);
  while (bytes) {
    ssize_t got = recv(socket.get(), next, bytes, 0);
    if (got > 0) {
      next += got, bytes -= size_t(got);
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
      return io::Status::error(got == 0 ? "the connection was closed" : "the connection broke: " + reason());
    if (!await(socket, POLLIN, deadline))
      return io::Status::error("nothing came in time");
  }
  return {};
}

} // namespace par::comm
