#include "comm/tcp/TcpMover.h"

#include "comm/tcp/TcpRoute.h"
#include "par/io/Threads.h"

#include <algorithm>
#include <sys/eventfd.h>
#include <unistd.h>

namespace par::comm {

TcpMover::TcpMover() : wakeUp(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

TcpMover::~TcpMover() {
  ending = true;
  wake();
  if (thread.joinable())
    thread.join();
}

void TcpMover::add(TcpRoute &route) {
  std::lock_guard<std::mutex> lock(mutex);
  routes.push_back(&route);
  spare.reserve(routes.size() + 1);
  if (!thread.joinable())
    thread = io::startThread("the thread that sends and receives", [this] { run(); });
}

void TcpMover::remove(TcpRoute &route) {
  std::lock_guard<std::mutex> lock(mutex);
  routes.erase(std::remove(routes.begin(), routes.end(), &route), routes.end());
}

void TcpMover::wake() {
  uint64_t one = 1;
  if (::write(wakeUp.get(), &one, sizeof(one)) < 0) {
  } // full: it is awake
}

void TcpMover::stop() {
  stopped = true;
  wake();
}

void TcpMover::moveAll() {
  std::lock_guard<std::mutex> lock(mutex);
  if (entries.capacity() < spare.capacity())
    entries.swap(spare);
  entries.clear();
  entries.push_back({wakeUp.get(), POLLIN, 0});
  for (TcpRoute *route : routes)
    if (short awaited = route->moveOn())
      entries.push_back({route->connection(), awaited, 0});
}

void TcpMover::run() {
  while (!ending) {
    moveAll();
    poll(entries.data(), entries.size(), -1);
    uint64_t times;
    if (::read(wakeUp.get(), &times, sizeof(times)) < 0) {
    } // nobody called
  }
}

} // namespace par::comm
