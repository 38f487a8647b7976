#include "comm/tcp/Connections.h"

#include <algorithm>
#include <thread>

namespace par::comm {

static Door doorOf(const Control &control, int host) { return {control.dataKey(), "data", host}; }

static io::Status readPlaces(const std::vector<std::string> &texts, std::vector<Place> &places) {
  for (const std::string &text : texts) {
    places.emplace_back();
    if (!readPlace(text, places.back()))
      return io::Status::error(
          "rank " + std::to_string(places.size() - 1) +
          " did not say where it listens; start all processes with the same version of par");
  }
  return {};
}

/// Tries every address once.
static bool tryPlace(const Door &door, int rank, int size, const std::vector<Address> &addresses,
                     Clock::time_point deadline, Socket &connection) {
  Verdict verdict;
  return std::any_of(addresses.begin(), addresses.end(), [&](const Address &address) {
    return connectTo(address, deadline, connection).ok() &&
           enter(door, rank, size, connection, std::min(deadline, after(10)), verdict) == Entry::accepted;
  });
}

static io::Status connectTo(Control &control, int rank, int size, int other, const Place &place,
                            Clock::time_point deadline, Socket &connection) {
  std::vector<Address> addresses;
  PAR_TRY(resolveAll(place.addresses, place.port, addresses));
  while (Clock::now() < deadline) {
    if (tryPlace(doorOf(control, other), rank, size, addresses, deadline, connection))
      return {};
    PAR_TRY(control.state());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return io::Status::error("rank " + std::to_string(rank) + " could not reach rank " + std::to_string(other) +
                           " at " + place.addresses.front() + ", port " + std::to_string(place.port) +
                           "; let all machines reach each other by TCP");
}

/// Those after this rank connect to it.
static io::Status acceptAfter(Control &control, Listener &listener, int rank, int size,
                              Clock::time_point deadline, std::vector<Socket> &sockets) {
  auto complete = [&] {
    return std::all_of(sockets.begin() + rank + 1, sockets.end(),
                       [](const Socket &one) { return one.isOpen(); });
  };
  auto admit = [&](Reception::Guest &guest) {
    if (guest.size == size && guest.rank > rank && guest.rank < size)
      sockets[size_t(guest.rank)] = std::move(guest.connection); // the newer one, when it had to try again
    return io::Status();
  };
  io::Status status = Reception(listener, doorOf(control, rank), std::string(nonceBytes, '\0'))
                          .receive(complete, deadline, admit, [&] { return control.state(); });
  if (status.ok() || Clock::now() < deadline)
    return status;
  return io::Status::error(
      "rank " + std::to_string(rank) +
      " was not reached by all others in time; let all machines reach each other by TCP");
}

io::Status connectAll(Control &control, int rank, int size, const std::string &host,
                      Clock::time_point deadline, std::vector<Socket> &sockets) {
  Listener listener;
  std::vector<Address> own;
  if (!host.empty())
    PAR_TRY(resolve(host, 0, own));
  PAR_TRY(listener.bind(own, 0));
  PAR_TRY(listener.listen());
  Place place{listener.port(), host.empty() ? ownAddresses() : std::vector{host}};
  std::vector<std::string> texts;
  std::vector<Place> places;
  PAR_TRY(control.allGather(place.text(), deadline, texts));
  PAR_TRY(readPlaces(texts, places));
  sockets = std::vector<Socket>(size_t(size));
  for (int other = 0; other < rank; ++other)
    PAR_TRY(connectTo(control, rank, size, other, places[size_t(other)], deadline, sockets[size_t(other)]));
  return acceptAfter(control, listener, rank, size, deadline, sockets);
}

} // namespace par::comm
