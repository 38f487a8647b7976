#include "comm/process/ProcessWorld.h"

#include "comm/mpi/MpiMessages.h"
#include "comm/tcp/TcpMessages.h"
#include "par/io/Philox.h"

#include <sstream>

namespace par::comm {

static Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void ProcessWorld::useMessages(std::unique_ptr<Messages> messages) {
  end = std::make_unique<MessageTransport>(std::move(messages), number, [this] { channel->abort(); });
}

io::Status ProcessWorld::overMpi(int rank, int size, double timeout, std::unique_ptr<ProcessWorld> &world) {
  Listener listener;
  std::string text;
  if (rank == 0) {
    PAR_TRY(listenOn(0, size, listener));
    text = invitation(listener.port, randomToken());
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

io::Status ProcessWorld::overTcp(int rank, int size, const std::string &address, int port, double timeout,
                                 std::unique_ptr<ProcessWorld> &world) {
  std::unique_ptr<ProcessWorld> made(new ProcessWorld(rank, size));
  made->channel = std::make_unique<Control>(rank, size);
  uint64_t token = io::fnv1a64("par " + std::to_string(port)); // nobody has handed out a secret yet
  Clock::time_point deadline = after(timeout);
  if (rank == 0) {
    Listener listener;
    PAR_TRY(listenOn(port, size, listener));
    PAR_TRY(made->channel->host(listener, token, deadline));
  } else {
    PAR_TRY(made->channel->join({address}, port, token, deadline));
  }
  std::unique_ptr<Messages> messages;
  PAR_TRY(openTcpMessages(*made->channel, rank, size, deadline, messages));
  made->useMessages(std::move(messages));
  world = std::move(made);
  return {};
}

} // namespace par::comm
