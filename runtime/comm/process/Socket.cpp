#include "comm/process/Socket.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace par::comm {

static std::string reason() { return std::strerror(errno); }

Socket &Socket::operator=(Socket &&other) noexcept {
  std::swap(descriptor, other.descriptor);
  return *this;
}

void Socket::close() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

static void prepareConnection(const Socket &socket) {
  int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
}

/// Milliseconds to a deadline, for poll.
static int millisecondsTo(Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return int(std::clamp<int64_t>(left, 0, 1 << 30));
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

/// Both address families where the machine has IPv6, else IPv4.
static Socket boundSocket(int port) {
  int on = 1, off = 0;
  Socket six(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (six.isOpen()) {
    setsockopt(six.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(six.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6, any.sin6_addr = in6addr_any, any.sin6_port = htons(uint16_t(port));
    if (bind(six.get(), reinterpret_cast<sockaddr *>(&any), sizeof(any)) == 0)
      return six;
  }
  Socket four(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  setsockopt(four.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in any{};
  any.sin_family = AF_INET, any.sin_addr.s_addr = htonl(INADDR_ANY), any.sin_port = htons(uint16_t(port));
  if (bind(four.get(), reinterpret_cast<sockaddr *>(&any), sizeof(any)) == 0)
    return four;
  return {};
}

io::Status listenOn(int port, int expected, Listener &listener) {
  listener.socket = boundSocket(port);
  if (!listener.socket.isOpen() || listen(listener.socket.get(), std::max(expected, 16)) != 0)
    return io::Status::error("port " + std::to_string(port) + " cannot be listened on: " + reason() +
                             "; give another MASTER_PORT");
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(listener.socket.get(), reinterpret_cast<sockaddr *>(&address), &length);
  listener.port = ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 &>(address).sin6_port
                                                      : reinterpret_cast<sockaddr_in &>(address).sin_port);
  return {};
}

io::Status acceptFrom(const Listener &listener, Clock::time_point deadline, Socket &connection) {
  if (!await(listener.socket, POLLIN, deadline))
    return io::Status::error("nobody connected in time");
  connection = Socket(accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.isOpen())
    return io::Status::error("a connection could not be accepted: " + reason());
  prepareConnection(connection);
  return {};
}

/// One attempt, of two seconds at most: an address may belong to a network that swallows packets.
static bool tryConnect(const addrinfo &address, Clock::time_point deadline, Socket &connection) {
  connection = Socket(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection.isOpen())
    return false;
  if (connect(connection.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS ||
        !await(connection, POLLOUT, std::min(deadline, Clock::now() + std::chrono::seconds(2))))
      return false;
    int error = 0;
    socklen_t length = sizeof(error);
    getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0)
      return false;
  }
  prepareConnection(connection);
  return true;
}

static bool tryHost(const std::string &host, int port, Clock::time_point deadline, Socket &connection) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return false;
  bool connected = false;
  for (addrinfo *address = found; address && !connected; address = address->ai_next)
    connected = tryConnect(*address, deadline, connection);
  freeaddrinfo(found);
  return connected;
}

io::Status connectTo(const std::vector<std::string> &hosts, int port, Clock::time_point deadline,
                     Socket &connection) {
  do {
    for (const std::string &host : hosts)
      if (tryHost(host, port, deadline, connection))
        return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100)); // it may not have started yet
  } while (Clock::now() < deadline);
  connection.close();
  return io::Status::error("no answer from " + (hosts.empty() ? "" : hosts.front()) + ", port " +
                           std::to_string(port));
}

std::vector<std::string> ownAddresses() {
  std::vector<std::string> outside, inside;
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0)
    return {"127.0.0.1"};
  for (ifaddrs *entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr || entry->ifa_addr->sa_family != AF_INET || !(entry->ifa_flags & IFF_UP))
      continue;
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in *>(entry->ifa_addr)->sin_addr, text, sizeof(text));
    (entry->ifa_flags & IFF_LOOPBACK ? inside : outside).push_back(text);
  }
  freeifaddrs(list);
  outside.insert(outside.end(), inside.begin(), inside.end());
  return outside;
}

uint64_t randomToken() {
  std::random_device random;
  return uint64_t(random()) << 32 | random();
}

std::string invitation(int port, uint64_t token) {
  std::string text = std::to_string(port) + " " + std::to_string(token);
  for (const std::string &address : ownAddresses())
    text += " " + address;
  return text;
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
