#include "comm/process/ProcessWorld.h"

#include "comm/mpi/MpiMessages.h"

#include <random>
#include <sstream>

namespace par::comm {

static Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Where rank 0 can be reached, as text.
static std::string invitation(int port, uint64_t token) {
  std::string text = std::to_string(port) + " " + std::to_string(token);
  for (const std::string &address : ownAddresses())
    text += " " + address;
  return text;
}

void ProcessWorld::useMessages(std::unique_ptr<Messages> messages) {
  end = std::make_unique<MessageTransport>(std::move(messages), number, [this] { channel->abort(); });
}

io::Status ProcessWorld::overMpi(int rank, int size, double timeout, std::unique_ptr<ProcessWorld> &world) {
  Listener listener;
  std::string text;
  if (rank == 0) {
    PAR_TRY(listenOn(0, size, listener));
    std::random_device random;
    text = invitation(listener.port, uint64_t(random()) << 32 | random());
  }
  PAR_TRY(broadcastByMpi(text));
  if (rank >= size)
    return {};
  std::istringstream words(text);
  int port = 0;
  uint64_t token = 0;
  std::vector<std::string> hosts;
  words >> port >> token;
  for (std::string host; words >> host;)
    hosts.push_back(host);
  std::unique_ptr<ProcessWorld> made(new ProcessWorld(rank, size));
  made->channel = std::make_unique<Control>(rank, size);
  PAR_TRY(rank == 0 ? made->channel->host(listener, token, after(timeout))
                    : made->channel->join(hosts, port, token, after(timeout)));
  made->useMessages(openMpiMessages());
  world = std::move(made);
  return {};
}

} // namespace par::comm
