#include "comm/tcp/TcpMessages.h"

#include "comm/tcp/Connections.h"
#include "comm/tcp/TcpRoute.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace par::comm {

namespace {
class TcpMessages : public Messages {
public:
  using Connect = std::function<io::Status(std::vector<Socket> &sockets)>;
  /// `connect` opens further connections, as `sockets` are.
  TcpMessages(int rank, std::vector<Socket> sockets, Connect connect)
      : rank(rank), connect(std::move(connect)), sockets(std::move(sockets)),
        wakeUp(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  std::unique_ptr<Group> group(const std::vector<int> &ranks, int member) override {
    transfers.reserve(2 * ranks.size());
    entries.reserve(2 * ranks.size() + 1);
    return std::make_unique<Group>(ranks, member);
  }
  io::Status exchange(Group &group, const std::vector<Message> &sends,
                      const std::vector<Message> &receives) override;
  /// On connections of their own: a message is not held up by a collective, nor the reverse.
  io::Status openRoutes() override { return connect(ofRoutes); }
  std::unique_ptr<Route> route(int other, bool sends, size_t most, size_t buffers) override {
    int descriptor = size_t(other) < ofRoutes.size() ? ofRoutes[size_t(other)].get() : -1;
    RouteEnds ends = sends ? RouteEnds{rank, other} : RouteEnds{other, rank};
    return std::make_unique<TcpRoute>(mover, descriptor, ends, sends, handed, most, buffers);
  }
  void stop() override {
    stopped = true;
    uint64_t one = 1;
    if (::write(wakeUp.get(), &one, sizeof(one)) < 0) {
    }
    mover.stop();
  }

private:
  /// What is left of a message.
  struct Transfer {
    int rank;
    char *next;
    int64_t left;
    bool send;
  };
  void add(Group &group, const std::vector<Message> &messages, bool send);
  /// Moves what the connections take and give at once.
  io::Status move();
  io::Status moveOne(Transfer &transfer);
  void sleep();
  io::Status gone(int rank);

  const int rank;
  const Connect connect;
  std::vector<Socket> sockets, ofRoutes; ///< by rank
  Socket wakeUp;
  std::atomic<bool> stopped{false};
  std::vector<Transfer> transfers; ///< unfinished ones
  std::vector<pollfd> entries;
  TcpMover mover; ///< last: its thread uses connections
};
} // namespace

static io::Status endedStatus() { return io::Status::error("the job was ended"); }

/// The control channel knows better which process is gone and why: it gets the time to say so.
io::Status TcpMessages::gone(int rank) {
  for (int i = 0; i < 200 && !stopped; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return stopped ? endedStatus()
                 : io::Status::error("rank " + std::to_string(rank) + " closed its connection");
}

io::Status TcpMessages::moveOne(Transfer &transfer) {
  int descriptor = sockets[size_t(transfer.rank)].get();
  while (transfer.left > 0) {
    size_t bytes = size_t(std::min<int64_t>(transfer.left, 1 << 30));
    ssize_t moved = transfer.send ? send(descriptor, transfer.next, bytes, MSG_NOSIGNAL)
                                  : recv(descriptor, transfer.next, bytes, 0);
    if (moved > 0) {
      transfer.next += moved, transfer.left -= moved;
      handed += transfer.send ? uint64_t(moved) : 0;
      continue;
    }
    if (moved < 0 && errno == EINTR)
      continue;
    if (moved < 0 && errno == EAGAIN)
      return {};
    return gone(transfer.rank);
  }
  return {};
}

io::Status TcpMessages::move() {
  for (size_t i = 0; i < transfers.size(); ++i) {
    // Bytes on a connection have no names: a message waits for those before it. Collectives have one at a
    // time.
    bool first = std::none_of(transfers.begin(), transfers.begin() + int64_t(i), [&](const Transfer &before) {
      return before.left > 0 && before.rank == transfers[i].rank && before.send == transfers[i].send;
    });
    if (first)
      PAR_TRY(moveOne(transfers[i]));
  }
  transfers.erase(
      std::remove_if(transfers.begin(), transfers.end(), [](const Transfer &t) { return t.left == 0; }),
      transfers.end());
  return {};
}

void TcpMessages::sleep() {
  entries.clear();
  for (const Transfer &transfer : transfers)
    entries.push_back({sockets[size_t(transfer.rank)].get(), short(transfer.send ? POLLOUT : POLLIN), 0});
  entries.push_back({wakeUp.get(), POLLIN, 0});
  poll(entries.data(), entries.size(), 1000);
}

void TcpMessages::add(Group &group, const std::vector<Message> &messages, bool send) {
  for (const Message &message : messages)
    transfers.push_back(
        {group.members()[size_t(message.member)], static_cast<char *>(message.data), message.bytes, send});
}

io::Status TcpMessages::exchange(Group &group, const std::vector<Message> &sends,
                                 const std::vector<Message> &receives) {
  transfers.clear();
  add(group, sends, true);
  add(group, receives, false);
  while (true) {
    if (stopped)
      return endedStatus();
    PAR_TRY(move());
    if (transfers.empty())
      return {};
    sleep();
  }
}

io::Status openTcpMessages(Control &control, int rank, int size, const std::string &host, double timeout,
                           Clock::time_point deadline, std::unique_ptr<Messages> &messages) {
  std::vector<Socket> sockets;
  PAR_TRY(connectAll(control, rank, size, host, deadline, sockets));
  messages = std::make_unique<TcpMessages>(
      rank, std::move(sockets), [&control, rank, size, host, timeout](std::vector<Socket> &ofRoutes) {
        return connectAll(control, rank, size, host, after(timeout), ofRoutes);
      });
  return {};
}

} // namespace par::comm
