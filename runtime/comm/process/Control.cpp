#include "comm/process/Control.h"

#include "comm/process/LostTime.h"
#include "par/io/Threads.h"

#include <algorithm>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace par::comm {

static constexpr size_t mostTexts = 4; // nobody is further ahead than that

static Clock::time_point soon() { return after(2); }
static io::Status endedByRank0() { return io::Status::error("rank 0 ended the job"); }

Control::~Control() {
  {
    std::lock_guard<std::mutex> lock(guarded);
    stopping = true;
  }
  wake();
  if (thread.joinable())
    thread.join();
  if (wakeUp >= 0)
    ::close(wakeUp);
}

io::Status Control::sendTo(Peer &peer, Kind kind, const std::string &text, Clock::time_point deadline) {
  std::string bytes = Frame{kind, text}.bytes();
  std::lock_guard<std::mutex> lock(sending);
  return sendAll(peer.socket, bytes.data(), bytes.size(), deadline);
}

/// Waits until every peer has sent a text.
io::Status Control::awaitTexts(Clock::time_point deadline) {
  std::unique_lock<std::mutex> lock(guarded);
  auto silent = [&] {
    return std::find_if(peers.begin(), peers.end(), [](const Peer &peer) { return peer.texts.empty(); });
  };
  changed.wait_until(lock, deadline, [&] { return silent() == peers.end() || !problem.empty(); });
  if (!problem.empty())
    return io::Status::error(problem);
  if (silent() == peers.end())
    return {};
  return io::Status::error("rank " + std::to_string(peerRank(size_t(silent() - peers.begin()))) +
                           " was not ready for the first step in time; give a longer --timeout");
}

io::Status Control::gatherAtRank0(const std::string &own, Clock::time_point deadline, std::string &list) {
  PAR_TRY(awaitTexts(deadline));
  std::vector<std::string> texts{own};
  {
    std::lock_guard<std::mutex> lock(guarded);
    for (Peer &peer : peers) {
      texts.push_back(std::move(peer.texts.front()));
      peer.texts.pop_front();
    }
  }
  list = joinTexts(texts);
  for (size_t i = 0; i < peers.size(); ++i)
    if (!sendTo(peers[i], Kind::data, list, deadline).ok())
      return io::Status::error("rank " + std::to_string(peerRank(i)) + " is gone before the first step");
  return {};
}

io::Status Control::allGather(const std::string &own, Clock::time_point deadline,
                              std::vector<std::string> &all) {
  std::string list;
  if (rank == 0) {
    PAR_TRY(gatherAtRank0(own, deadline, list));
  } else {
    PAR_TRY(sendTo(peers[0], Kind::data, own, deadline));
    PAR_TRY(awaitTexts(deadline));
    std::lock_guard<std::mutex> lock(guarded);
    list = std::move(peers[0].texts.front());
    peers[0].texts.pop_front();
  }
  if (!splitTexts(list, all) || int(all.size()) != size)
    return io::Status::error("rank 0 sent no list of " + std::to_string(size) + " texts");
  return {};
}

void Control::start(double period, double timeout) {
  progressed = heard = Clock::now();
  wakeUp = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread = io::startThread("the thread that watches other processes",
                           [this, period, timeout] { watch(period, timeout); });
}

void Control::listen(Events given) {
  {
    std::lock_guard<std::mutex> lock(guarded);
    events = std::make_shared<const Events>(std::move(given));
  }
  wake();
}

std::shared_ptr<const Control::Events> Control::currentEvents() {
  std::lock_guard<std::mutex> lock(guarded);
  return events;
}

io::Status Control::state() {
  std::lock_guard<std::mutex> lock(guarded);
  return problem.empty() ? io::Status() : io::Status::error(problem);
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
  tellBeat();
  tellAll(Kind::failed, textOf(Report{culprit, message}));
}

void Control::end() { tellAll(Kind::ended, ""); }
void Control::abort() { tellAll(Kind::aborted, ""); }

void Control::tellBeat() {
  std::shared_ptr<const Events> now = currentEvents();
  tellAll(Kind::beat, textOf(now && now->ownBeat ? now->ownBeat() : Beat{0, 0, 0, -1, -1, -1}));
}

void Control::watch(double period, double timeout) {
  std::vector<pollfd> entries(peers.size() + 1);
  auto next = Clock::now();
  LostTime lostTime(period);
  while (true) {
    if (Clock::now() >= next) {
      tellBeat();
      next = after(period);
    }
    for (size_t i = 0; i < peers.size(); ++i)
      entries[i] = {peers[i].gone ? -1 : peers[i].socket.get(), POLLIN, 0};
    entries.back() = {wakeUp, POLLIN, 0};
    poll(entries.data(), entries.size(), report ? 10 : int(std::max(1.0, period * 1000)));
    if (uint64_t count; entries.back().revents && ::read(wakeUp, &count, sizeof(count)) < 0) {
    }
    giveReport();
    {
      std::lock_guard<std::mutex> lock(guarded);
      if (stopping)
        return;
    }
    for (size_t i = 0; i < peers.size(); ++i)
      if (entries[i].revents && !peers[i].gone)
        read(int(i));
    heard = std::min(heard + lostTime.take(), Clock::now());
    std::chrono::duration<double> silent = Clock::now() - heard;
    if (rank == 0 || !heardAny || peers[0].gone || silent.count() + 2 * period <= timeout)
      continue;
    tellAll(Kind::ended, ""); // if it was stopped, it learns so that it is over, and blames nobody
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
  heard = Clock::now(), heardAny = true;
  peer.unread.append(buffer, size_t(got));
  Frame frame;
  FrameState found;
  while (!peer.gone && (found = takeFrame(peer.unread, frame)) != FrameState::partial)
    if (found == FrameState::malformed)
      lose(from, "it sent what no process of par sends");
    else
      handle(from, frame);
}

void Control::handle(int from, const Frame &frame) {
  switch (frame.kind) {
  case Kind::beat:
    return handleBeat(from, frame.text);
  case Kind::ask:
    return tellBeat();
  case Kind::failed:
    return handleFailure(frame.text, from);
  case Kind::ended:
    return handleEnd();
  case Kind::aborted:
    if (rank == 0)
      tellAll(Kind::aborted, "", peerRank(size_t(from)));
    if (std::shared_ptr<const Events> now = currentEvents(); now && now->aborted)
      now->aborted();
    return;
  case Kind::goodbye:
    return handleGoodbye(from);
  case Kind::data:
    return handleData(from, frame.text);
  }
}

void Control::handleBeat(int from, const std::string &text) {
  Beat beat;
  if (!readBeat(text, beat))
    return lose(from, "it sent what no process of par sends");
  Peer &peer = peers[size_t(from)];
  if (beat.beats != std::exchange(peer.beats, beat.beats) && !peer.goodbye) {
    std::lock_guard<std::mutex> lock(guarded);
    progressed = Clock::now();
  }
  std::shared_ptr<const Events> now = currentEvents();
  if (rank == 0 && now && now->beat)
    now->beat(peerRank(size_t(from)), beat);
}

void Control::handleFailure(const std::string &text, int from) {
  Report told;
  if (!readReport(text, told) || told.culprit >= size)
    return lose(from, "it sent what no process of par sends");
  reportSoon([told](const Events &now) { now.failed ? now.failed(told.culprit, told.message) : void(); });
}

void Control::handleEnd() {
  {
    std::lock_guard<std::mutex> lock(guarded);
    endedByOthers = rank == 0;
    if (problem.empty() && rank != 0)
      problem = endedByRank0().message();
    changed.notify_all();
  }
  report = nullptr; // it has been said
  reportSoon([](const Events &now) { now.ended ? now.ended() : void(); });
}

void Control::handleData(int from, const std::string &text) {
  Peer &peer = peers[size_t(from)];
  {
    std::lock_guard<std::mutex> lock(guarded);
    if (peer.texts.size() < mostTexts) {
      peer.texts.push_back(text);
      changed.notify_all();
      return;
    }
  }
  lose(from, "it sent what no process of par sends");
}

void Control::handleGoodbye(int from) {
  std::lock_guard<std::mutex> lock(guarded);
  peers[size_t(from)].goodbye = true;
  ++goodbyes;
  changed.notify_all();
}

void Control::lose(int from, const std::string &why) {
  Peer &peer = peers[size_t(from)];
  peer.gone = true;
  if (peer.goodbye)
    return;
  int rankGone = peerRank(size_t(from));
  {
    std::lock_guard<std::mutex> lock(guarded);
    if (problem.empty() && !endedByOthers)
      problem = "rank " + std::to_string(rankGone) + " is gone: " + why;
    changed.notify_all();
  }
  reportSoon([rankGone, why](const Events &now) { now.lost ? now.lost(rankGone, why) : void(); });
}

void Control::reportSoon(std::function<void(const Events &)> news) {
  if (report)
    return;
  report = std::move(news);
  reportAt = Clock::now() + std::chrono::milliseconds(rank == 0 ? 100 : 0);
  if (rank == 0)
    tellAll(Kind::ask, "");
}

void Control::giveReport() {
  std::shared_ptr<const Events> now = currentEvents();
  if (report && now && Clock::now() >= reportAt)
    std::exchange(report, nullptr)(*now);
}

io::Status Control::finish(double timeout, const std::function<bool()> &waiting) {
  if (rank != 0)
    tellAll(Kind::goodbye, "");
  LostTime lostTime(0.05);
  {
    std::unique_lock<std::mutex> lock(guarded);
    progressed = Clock::now();
    while (goodbyes < int(peers.size())) {
      if (!problem.empty())
        return io::Status::error(problem);
      auto waits = std::find_if(peers.begin(), peers.end(), [](const Peer &peer) { return !peer.goodbye; });
      std::string who = "rank " + std::to_string(peerRank(size_t(waits - peers.begin())));
      if (!waiting())
        return io::Status::error("stopped by a signal while waiting for " + who + " to finish");
      progressed += lostTime.take();
      if (Clock::now() - progressed > std::chrono::duration<double>(timeout))
        return io::Status::error(who + " did not finish in time (--timeout)");
      changed.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
  if (rank == 0)
    tellAll(Kind::goodbye, "");
  {
    std::lock_guard<std::mutex> lock(guarded);
    stopping = true;
  }
  wake();
  thread.join();
  return {};
}

} // namespace par::comm
