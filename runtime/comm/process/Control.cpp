#include "comm/process/Control.h"

#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace par::comm {

namespace {
struct Hello {
  char magic[8];
  uint64_t token;
  int32_t rank, size;
};
struct Head {
  uint32_t kind, bytes;
};
constexpr char magic[8] = {'p', 'a', 'r', '-', 'j', 'o', 'b', '1'};
constexpr uint32_t largestText = 64 << 20;
} // namespace

static Clock::time_point soon() { return Clock::now() + std::chrono::seconds(2); }

Control::~Control() {
  {
    std::lock_guard<std::mutex> lock(state);
    stopping = true;
  }
  wake();
  if (thread.joinable())
    thread.join();
  if (wakeUp >= 0)
    ::close(wakeUp);
}

/// Takes a connection in, or drops it when it belongs to something else.
io::Status Control::greet(Socket connection, uint64_t token, Clock::time_point deadline) {
  Hello hello{};
  if (!receiveAll(connection, &hello, sizeof(hello), std::min(deadline, soon())).ok() ||
      std::memcmp(hello.magic, magic, sizeof(magic)) != 0 || hello.token != token)
    return {};
  std::string problem;
  if (hello.size != size)
    problem = "a process was started as one of " + std::to_string(hello.size) + ", rank 0 as one of " +
              std::to_string(size);
  else if (hello.rank < 1 || hello.rank >= size || peers[size_t(hello.rank) - 1].socket.isOpen())
    problem = "two processes are rank " + std::to_string(hello.rank);
  char welcome = problem.empty() ? 1 : 0;
  PAR_TRY(sendAll(connection, &welcome, 1, deadline));
  if (!problem.empty())
    return io::Status::error(problem + "; give every process its own RANK and all the same WORLD_SIZE");
  peers[size_t(hello.rank) - 1].socket = std::move(connection);
  return {};
}

io::Status Control::host(const Listener &listener, uint64_t token, Clock::time_point deadline) {
  peers.resize(size_t(size) - 1);
  auto missing = [&] {
    for (size_t i = 0; i < peers.size(); ++i)
      if (!peers[i].socket.isOpen())
        return int(i) + 1;
    return -1;
  };
  for (int rank = missing(); rank > 0; rank = missing()) {
    Socket connection;
    if (!acceptFrom(listener, deadline, connection).ok())
      return io::Status::error("rank " + std::to_string(rank) + " did not connect in time; start all " +
                               std::to_string(size) + " processes within --timeout");
    PAR_TRY(greet(std::move(connection), token, deadline));
  }
  return {};
}

io::Status Control::join(const std::vector<std::string> &hosts, int port, uint64_t token,
                         Clock::time_point deadline) {
  peers.resize(1);
  Hello hello{};
  std::memcpy(hello.magic, magic, sizeof(magic));
  hello.token = token, hello.rank = rank, hello.size = size;
  do { // every address in turn: one of them may be another machine's
    for (const std::string &host : hosts) {
      Socket connection;
      char welcome = 0;
      if (!connectTo({host}, port, std::min(deadline, Clock::now() + std::chrono::milliseconds(500)),
                     connection)
               .ok() ||
          !sendAll(connection, &hello, sizeof(hello), deadline).ok() ||
          !receiveAll(connection, &welcome, 1, deadline).ok())
        continue;
      if (!welcome)
        return io::Status::error("rank 0 refused this process");
      peers[0].socket = std::move(connection);
      return {};
    }
  } while (Clock::now() < deadline);
  return io::Status::error("rank " + std::to_string(rank) + " could not reach rank 0 at " +
                           (hosts.empty() ? "" : hosts.front()) + ", port " + std::to_string(port) +
                           "; start all processes within --timeout and let them reach each other by TCP");
}

io::Status Control::sendTo(Peer &peer, Kind kind, const std::string &text, Clock::time_point deadline) {
  Head head{uint32_t(kind), uint32_t(text.size())};
  std::string frame(reinterpret_cast<const char *>(&head), sizeof(head));
  frame += text;
  std::lock_guard<std::mutex> lock(sending);
  return sendAll(peer.socket, frame.data(), frame.size(), deadline);
}

io::Status Control::receiveText(Peer &peer, Clock::time_point deadline, std::string &text) {
  Head head{};
  PAR_TRY(receiveAll(peer.socket, &head, sizeof(head), deadline));
  if (head.kind != uint32_t(Kind::data) || head.bytes > largestText)
    return io::Status::error("it sent something unknown");
  text.resize(head.bytes);
  return receiveAll(peer.socket, text.data(), head.bytes, deadline);
}

static void appendText(std::string &list, const std::string &text) {
  uint64_t bytes = text.size();
  list.append(reinterpret_cast<const char *>(&bytes), 8).append(text);
}

static std::vector<std::string> splitTexts(const std::string &list) {
  std::vector<std::string> texts;
  for (size_t at = 0; at + 8 <= list.size();) {
    uint64_t bytes;
    std::memcpy(&bytes, list.data() + at, 8);
    texts.push_back(list.substr(at + 8, bytes));
    at += 8 + bytes;
  }
  return texts;
}

io::Status Control::allGather(const std::string &own, Clock::time_point deadline,
                              std::vector<std::string> &all) {
  auto failed = [](int rank, const io::Status &status) {
    return io::Status::error("rank " + std::to_string(rank) +
                             " is gone before the first step: " + status.message());
  };
  std::string list;
  if (rank == 0) {
    appendText(list, own);
    for (size_t i = 0; i < peers.size(); ++i) {
      std::string text;
      if (io::Status status = receiveText(peers[i], deadline, text); !status.ok())
        return failed(peerRank(i), status);
      appendText(list, text);
    }
    for (size_t i = 0; i < peers.size(); ++i)
      if (io::Status status = sendTo(peers[i], Kind::data, list, deadline); !status.ok())
        return failed(peerRank(i), status);
  } else {
    io::Status status = sendTo(peers[0], Kind::data, own, deadline);
    if (status.ok())
      status = receiveText(peers[0], deadline, list);
    if (!status.ok())
      return failed(0, status);
  }
  all = splitTexts(list);
  return {};
}

void Control::awaitClose(Clock::time_point deadline) {
  char unexpected;
  while (receiveAll(peers[0].socket, &unexpected, 1, deadline).ok()) {
  }
}

void Control::start(Events given, double period, double timeout) {
  events = std::move(given);
  heard = Clock::now();
  wakeUp = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread = std::thread([this, period, timeout] { watch(period, timeout); });
}

void Control::wake() {
  uint64_t one = 1;
  if (wakeUp >= 0 && ::write(wakeUp, &one, sizeof(one)) < 0) {
  }
}

void Control::tellAll(Kind kind, const std::string &text, int but) {
  for (size_t i = 0; i < peers.size(); ++i)
    if (peerRank(i) != but && peers[i].socket.isOpen())
      (void)sendTo(peers[i], kind, text, soon()); // who is gone is noticed by the reader
}

void Control::reportFailure(int culprit, const std::string &message) {
  std::string text(reinterpret_cast<const char *>(&culprit), sizeof(culprit));
  tellBeat();
  tellAll(Kind::failed, text + message);
}

void Control::end() { tellAll(Kind::ended, ""); }
void Control::abort() { tellAll(Kind::aborted, ""); }

void Control::tellBeat() {
  Beat beat = events.ownBeat ? events.ownBeat() : Beat{};
  tellAll(Kind::beat, std::string(reinterpret_cast<const char *>(&beat), sizeof(beat)));
}

void Control::watch(double period, double timeout) {
  std::vector<pollfd> entries(peers.size() + 1);
  auto next = Clock::now();
  while (true) {
    if (Clock::now() >= next) {
      tellBeat();
      next =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period));
    }
    for (size_t i = 0; i < peers.size(); ++i)
      entries[i] = {peers[i].gone ? -1 : peers[i].socket.get(), POLLIN, 0};
    entries.back() = {wakeUp, POLLIN, 0};
    poll(entries.data(), entries.size(), report ? 10 : int(std::max(1.0, period * 1000)));
    if (report && Clock::now() >= reportAt)
      std::exchange(report, nullptr)();
    {
      std::lock_guard<std::mutex> lock(state);
      if (stopping)
        return;
    }
    for (size_t i = 0; i < peers.size(); ++i)
      if (entries[i].revents && !peers[i].gone)
        read(int(i));
    std::chrono::duration<double> silent = Clock::now() - heard;
    if (rank != 0 && !peers[0].gone && silent.count() + 2 * period > timeout)
      lose(0, "nothing was heard of its process for " + std::to_string(int64_t(silent.count() + 0.5)) + " s");
  }
}

void Control::read(int from) {
  Peer &peer = peers[size_t(from)];
  char buffer[65536];
  ssize_t got = recv(peer.socket.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (got <= 0)
    return lose(from, "its process ended");
  heard = Clock::now();
  peer.unread.append(buffer, size_t(got));
  while (peer.unread.size() >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, peer.unread.data(), sizeof(head));
    if (peer.unread.size() < sizeof(head) + head.bytes)
      return;
    std::string text = peer.unread.substr(sizeof(head), head.bytes);
    peer.unread.erase(0, sizeof(head) + head.bytes);
    handle(from, Kind(head.kind), text);
  }
}

void Control::handle(int from, Kind kind, const std::string &text) {
  int sender = peerRank(size_t(from)), culprit = sender;
  Beat beat{};
  switch (kind) {
  case Kind::beat:
    std::memcpy(&beat, text.data(), std::min(sizeof(beat), text.size()));
    if (rank == 0 && events.beat)
      events.beat(sender, beat);
    return;
  case Kind::ask:
    return tellBeat();
  case Kind::failed: {
    std::memcpy(&culprit, text.data(), std::min(sizeof(culprit), text.size()));
    std::string message = text.substr(std::min(sizeof(culprit), text.size()));
    return reportSoon([this, culprit, message] { events.failed ? events.failed(culprit, message) : void(); });
  }
  case Kind::ended:
    if (events.ended)
      events.ended();
    return;
  case Kind::aborted:
    if (rank == 0)
      tellAll(Kind::aborted, "", sender);
    if (events.aborted)
      events.aborted();
    return;
  case Kind::goodbye:
    return handleGoodbye(from);
  case Kind::data:
    return;
  }
}

void Control::handleGoodbye(int from) {
  peers[size_t(from)].goodbye = true;
  std::lock_guard<std::mutex> lock(state);
  ++goodbyes;
  changed.notify_all();
}

void Control::lose(int from, const std::string &why) {
  Peer &peer = peers[size_t(from)];
  peer.gone = true;
  if (peer.goodbye)
    return;
  {
    std::lock_guard<std::mutex> lock(state);
    anyLost = true;
    changed.notify_all();
  }
  int rankGone = peerRank(size_t(from));
  reportSoon([this, rankGone, why] { events.lost ? events.lost(rankGone, why) : void(); });
}

void Control::reportSoon(std::function<void()> news) {
  if (report)
    return;
  report = std::move(news);
  reportAt = Clock::now() + std::chrono::milliseconds(rank == 0 ? 100 : 0);
  if (rank == 0)
    tellAll(Kind::ask, "");
}

void Control::finish() {
  if (rank != 0)
    tellAll(Kind::goodbye, "");
  {
    std::unique_lock<std::mutex> lock(state);
    changed.wait(lock, [&] { return goodbyes == int(peers.size()) || anyLost; });
  }
  if (rank == 0)
    tellAll(Kind::goodbye, "");
  {
    std::lock_guard<std::mutex> lock(state);
    stopping = true;
  }
  wake();
  thread.join();
}

} // namespace par::comm
