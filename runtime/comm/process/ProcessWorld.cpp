#include "comm/process/ProcessWorld.h"

#include "comm/mpi/MpiMessages.h"
#include "comm/process/ProcessManager.h"
#include "comm/tcp/TcpMessages.h"
#include "par/io/Hmac.h"

#include <algorithm>
#include <cstdlib>

namespace par::comm {

/// Begins to listen to the other ranks at once: whatever is waited for from now on, who dies is noticed.
void ProcessWorld::start(double timeout, OpenMessages open) {
  channel->start(std::min(timeout / 20, 0.5), timeout);
  openMessages = std::move(open);
}

/// `host`: where this process listens for others.
void ProcessWorld::startTcp(const std::string &host, double timeout, Clock::time_point deadline) {
  start(timeout, [this, host, timeout, deadline](std::unique_ptr<Messages> &messages) {
    return openTcpMessages(*channel, number, count, host, timeout, deadline, messages);
  });
}

io::Status ProcessWorld::openTransport() {
  std::unique_ptr<Messages> messages;
  PAR_TRY(openMessages(messages));
  end = std::make_unique<MessageTransport>(std::move(messages), number, [this] { channel->abort(); });
  return {};
}

/// Launchers say when all processes run on this machine: nobody outside needs to reach them then.
static bool allOnThisMachine(int size) {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  for (auto [here, all] :
       {std::pair("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"), {"MPI_LOCALNRANKS", "PMI_SIZE"}})
    if (!variable(all).empty() && variable(here) == variable(all))
      return true;
  return size == 1;
}

/// Rank 0's part before anybody calls: where it listens, and a key for this job, for the launcher to carry.
static io::Status invite(int size, Listener &listener, std::string &key, std::string &text) {
  std::vector<Address> addresses;
  if (allOnThisMachine(size))
    PAR_TRY(resolve("127.0.0.1", 0, addresses));
  PAR_TRY(listener.bind(addresses, 0));
  PAR_TRY(listener.listen());
  key = io::randomBytes(nonceBytes);
  Place place{listener.port(), addresses.empty() ? ownAddresses() : std::vector{listener.host()}};
  text = joinTexts({key, place.text()});
  return {};
}

static io::Status readInvitation(const std::string &text, std::string &key, Place &place) {
  std::vector<std::string> texts;
  if (!splitTexts(text, texts) || texts.size() != 2 || !readPlace(texts[1], place))
    return io::Status::error("rank 0 did not say where it listens");
  key = texts[0];
  return {};
}

io::Status ProcessWorld::byInvitation(int rank, int size, double timeout, const Carry &carry,
                                      std::unique_ptr<ProcessWorld> &made, std::string &host) {
  Listener listener;
  std::string text, key;
  io::Status problem = rank == 0 ? invite(size, listener, key, text) : io::Status();
  PAR_TRY(carry(text));
  PAR_TRY(problem);
  if (rank >= size)
    return {};
  Place place;
  PAR_TRY(readInvitation(text, key, place));
  made.reset(new ProcessWorld(rank, size));
  Invitation invitation{
      place.addresses.front() + ", port " + std::to_string(place.port),
      [&](std::vector<Address> &addresses) { return resolveAll(place.addresses, place.port, addresses); },
      [&](const Address &, std::string &known) { return known = key, io::Status(); }};
  PAR_TRY(rank == 0 ? made->channel->host(listener, key, after(timeout))
                    : made->channel->join(invitation, after(timeout)));
  host = rank == 0 ? listener.host() : made->channel->connection().ownEnd().text();
  return {};
}

io::Status ProcessWorld::overMpi(int rank, int size, double timeout, std::unique_ptr<ProcessWorld> &world) {
  std::unique_ptr<ProcessWorld> made;
  std::string host;
  PAR_TRY(byInvitation(rank, size, timeout, broadcastByMpi, made, host));
  if (!made)
    return {};
  made->start(timeout, [rank, size](std::unique_ptr<Messages> &messages) {
    messages = openMpiMessages(rank, size);
    return io::Status();
  });
  world = std::move(made);
  return {};
}

io::Status ProcessWorld::overProcessManager(int rank, int size, int descriptor, double timeout,
                                            std::unique_ptr<ProcessWorld> &world) {
  std::unique_ptr<ProcessWorld> made;
  std::string host;
  auto carry = [&](std::string &text) { return broadcastByProcessManager(descriptor, rank, timeout, text); };
  PAR_TRY(byInvitation(rank, size, timeout, carry, made, host));
  made->startTcp(host, timeout, after(timeout));
  world = std::move(made);
  return {};
}

static io::Status joinOverTcp(Control &control, const Meeting &meeting, Clock::time_point deadline) {
  std::string key;
  if (!meeting.secretFile.empty())
    PAR_TRY(readSecretFile(meeting.secretFile, key)); // else it would be said only when all time is over
  return control.join(
      {meeting.host + ", port " + std::to_string(meeting.port),
       [&](std::vector<Address> &addresses) { return findMeeting(meeting, addresses); },
       [&](const Address &address, std::string &known) { return readSecretOf(meeting, address, known); }},
      deadline);
}

io::Status ProcessWorld::overTcp(int rank, int size, const Meeting &meeting, double timeout,
                                 std::unique_ptr<ProcessWorld> &world) {
  std::unique_ptr<ProcessWorld> made(new ProcessWorld(rank, size));
  Control &control = *made->channel;
  Clock::time_point deadline = after(timeout);
  std::string host;
  if (rank == 0) {
    Listener listener;
    PostedSecret posted; // goes before the port does, so that it is never another job's
    std::string key;
    PAR_TRY(openMeeting(meeting, listener, posted, key));
    PAR_TRY(control.host(listener, key, deadline));
    host = listener.host();
  } else {
    PAR_TRY(joinOverTcp(control, meeting, deadline));
    host = ownHost(meeting, control.connection());
    deadline = after(timeout + 5); // rank 0, which waits for the rest, is to say who is missing
  }
  made->startTcp(host, timeout, deadline);
  world = std::move(made);
  return {};
}

} // namespace par::comm
