// How the processes of a job come together: Control before its thread.
#include "comm/process/Control.h"
#include "par/io/Hmac.h"

#include <algorithm>
#include <poll.h>
#include <thread>

namespace par::comm {

static constexpr char purpose[] = "control";
// Whoever answers at rank 0's place without knowing the key is not going to learn it.
static constexpr std::chrono::seconds patienceWithStrangers(5);

void Control::deriveKey(const std::string &key, const std::string &job) {
  derivedKey = io::hmacSha256(key, "par data connections of job " + job);
}

io::Status Control::admit(Reception::Guest &guest) {
  auto refuse = [](const std::string &why) {
    return io::Status::error(why + "; give every process its own RANK and all the same WORLD_SIZE");
  };
  if (guest.size != size)
    return refuse("a process was started as one of " + std::to_string(guest.size) + ", rank 0 as one of " +
                  std::to_string(size));
  if (guest.rank < 1 || guest.rank >= size)
    return refuse("a process was started as rank " + std::to_string(guest.rank) + " of " +
                  std::to_string(size));
  if (peers[size_t(guest.rank) - 1].socket.isOpen())
    return refuse("two processes are rank " + std::to_string(guest.rank));
  PAR_TRY(findGone()); // or the last one that comes would find a job that cannot begin
  peers[size_t(guest.rank) - 1].socket = std::move(guest.connection);
  return {};
}

int Control::firstMissing() const {
  auto missing =
      std::find_if(peers.begin(), peers.end(), [](const Peer &peer) { return !peer.socket.isOpen(); });
  return missing == peers.end() ? -1 : peerRank(size_t(missing - peers.begin()));
}

/// Those who came may be gone again before all are here.
io::Status Control::findGone() {
  for (size_t i = 0; i < peers.size(); ++i) {
    pollfd entry{peers[i].socket.isOpen() ? peers[i].socket.get() : -1, POLLRDHUP, 0};
    if (poll(&entry, 1, 0) > 0)
      return io::Status::error("rank " + std::to_string(peerRank(i)) +
                               " is gone before the first step: its process ended");
  }
  return {};
}

/// Those who are still on their way would wait for a rank 0 that is gone.
void Control::turnAway(Reception &reception, Clock::time_point deadline) {
  auto missing =
      std::count_if(peers.begin(), peers.end(), [](const Peer &peer) { return !peer.socket.isOpen(); });
  auto refuse = [&](Reception::Guest &) { return --missing, io::Status::error("the job cannot begin"); };
  while (missing > 0 && Clock::now() < deadline)
    (void)reception.receive([] { return false; }, deadline, refuse, [] { return io::Status(); });
}

io::Status Control::host(Listener &listener, const std::string &key, Clock::time_point deadline) {
  peers.resize(size_t(size) - 1);
  std::string job = io::randomBytes(nonceBytes);
  deriveKey(key, job);
  Reception reception(listener, {key, purpose, 0}, job);
  io::Status status =
      reception.receive([&] { return firstMissing() < 0; }, deadline,
                        [&](Reception::Guest &guest) { return admit(guest); }, [&] { return findGone(); });
  if (status.ok())
    return {};
  tellAll(Kind::ended, "");
  if (Clock::now() < deadline) {
    turnAway(reception, std::min(deadline, after(farewell)));
    return status;
  }
  std::string hint = reception.strangers()
                         ? "; " + std::to_string(reception.strangers()) + " connections (the last from " +
                               reception.lastStranger() + ") did not know the secret: see PAR_SECRET_FILE"
                         : "";
  return io::Status::error("rank " + std::to_string(firstMissing()) + " did not connect in time; start all " +
                           std::to_string(size) + " processes within --timeout" + hint);
}

Entry Control::tryAddress(const Invitation &invitation, const Address &address, Clock::time_point deadline,
                          std::string &problem) {
  Socket connection;
  std::string key;
  Verdict verdict;
  if (io::Status status = connectTo(address, deadline, connection); !status.ok())
    return problem = status.message(), Entry::broken;
  if (io::Status status = invitation.key(address, key); !status.ok())
    return problem = status.message(), Entry::stranger;
  Entry entry = enter({key, purpose, 0}, rank, size, connection, std::min(deadline, after(10)), verdict);
  problem = entry == Entry::broken ? "what answers there says nothing"
                                   : "what answers there does not know this job's secret";
  if (entry != Entry::accepted)
    return entry;
  deriveKey(key, verdict.job);
  peers[0].socket = std::move(connection);
  return entry;
}

io::Status Control::join(const Invitation &invitation, Clock::time_point deadline) {
  peers.resize(1);
  std::string problem = "nothing answers";
  Clock::time_point strangersSince = Clock::time_point::max();
  do { // every address in turn: one of them may be another machine's
    std::vector<Address> addresses;
    PAR_TRY(invitation.addresses(addresses));
    bool stranger = false;
    for (const Address &address : addresses) {
      Entry entry = tryAddress(invitation, address, deadline, problem);
      if (entry == Entry::accepted)
        return {};
      if (entry == Entry::refused)
        return handleEnd(), io::Status(); // rank 0 says why
      stranger |= entry == Entry::stranger;
    }
    strangersSince = stranger ? std::min(strangersSince, Clock::now()) : Clock::time_point::max();
    if (stranger && Clock::now() - strangersSince > patienceWithStrangers)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // it may not have started yet
  } while (Clock::now() < deadline);
  return io::Status::error("rank " + std::to_string(rank) + " could not reach rank 0 at " + invitation.where +
                           ": " + problem +
                           "; start all processes within --timeout and let them reach each other by TCP");
}

} // namespace par::comm
