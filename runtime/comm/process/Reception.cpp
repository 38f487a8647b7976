#include "comm/process/Reception.h"

#include "par/io/Hmac.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace par::comm {

// A silent connection costs its descriptor and nothing else, and the oldest makes room for the next.
static constexpr size_t mostKnocks = 256;
static constexpr std::chrono::seconds patience(10);
static constexpr std::chrono::milliseconds turn(50);

Reception::Reception(Listener &listener, Door door, std::string job)
    : listener(listener), door(std::move(door)), job(std::move(job)) {}

void Reception::wait(Clock::time_point deadline) {
  std::vector<pollfd> entries{{listener.get().get(), POLLIN, 0}};
  for (const Knock &knock : knocks)
    entries.push_back({knock.connection.get(), POLLIN, 0});
  poll(entries.data(), entries.size(), millisecondsTo(std::min(deadline, Clock::now() + turn)));
}

void Reception::acceptAll() {
  Socket connection;
  bool full = false;
  while (listener.accept(connection, full)) {
    if (knocks.size() == mostKnocks)
      knocks.pop_front();
    Knock knock;
    knock.connection = std::move(connection), knock.deadline = Clock::now() + patience;
    knocks.push_back(std::move(knock));
  }
  if (!full)
    return;
  if (!knocks.empty())
    knocks.pop_front();
  std::this_thread::sleep_for(std::chrono::milliseconds(10)); // the listener stays readable
}

Reception::State Reception::listenTo(Knock &knock) {
  char buffer[helloBytes];
  while (true) {
    size_t wanted = (knock.challenge.empty() ? helloBytes : proofBytes) - knock.heard.size();
    ssize_t got = recv(knock.connection.get(), buffer, wanted, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return Clock::now() < knock.deadline ? State::waiting : State::left;
    if (got <= 0)
      return State::left;
    knock.heard.append(buffer, size_t(got));
    if (size_t(got) < wanted)
      continue;
    if (State state = answer(knock); state != State::waiting)
      return state;
  }
}

/// To a whole hello or a whole proof. Sending never blocks: so little fits into any buffer.
Reception::State Reception::answer(Knock &knock) {
  std::string heard = std::exchange(knock.heard, "");
  if (knock.challenge.empty()) {
    if (!readHello(heard, knock.hello))
      return State::left;
    knock.challenge = io::randomBytes(nonceBytes);
    bool sent = send(knock.connection.get(), knock.challenge.data(), nonceBytes, MSG_NOSIGNAL) == nonceBytes;
    return sent ? State::waiting : State::left;
  }
  if (io::equalInConstantTime(heard, guestProof(door, knock.hello, knock.challenge)))
    return State::proved;
  ++turnedAway, last = knock.connection.otherEnd().text();
  return State::left;
}

io::Status Reception::admitGuest(Knock &knock, const Admit &admit) {
  Guest guest{knock.hello.rank, knock.hello.size, Socket()};
  guest.connection = std::move(knock.connection);
  int descriptor = guest.connection.get(); // stays open: `admit` moves the connection on or leaves it here
  io::Status problem = admit(guest);
  std::string verdict = verdictBytesOf(door, knock.hello, knock.challenge, {problem.ok(), job});
  if (send(descriptor, verdict.data(), verdict.size(), MSG_NOSIGNAL) < 0) {
    // Whoever is gone is noticed by who reads next.
  }
  return problem;
}

io::Status Reception::receive(const std::function<bool()> &complete, Clock::time_point deadline,
                              const Admit &admit, const Interrupt &interrupt) {
  while (!complete()) {
    PAR_TRY(interrupt());
    if (Clock::now() >= deadline)
      return io::Status::error("nobody connected in time");
    wait(deadline);
    acceptAll();
    for (auto knock = knocks.begin(); knock != knocks.end() && !complete();) {
      State state = listenTo(*knock);
      if (state == State::proved)
        PAR_TRY(admitGuest(*knock, admit));
      knock = state == State::waiting ? std::next(knock) : knocks.erase(knock);
    }
  }
  return {};
}

} // namespace par::comm
