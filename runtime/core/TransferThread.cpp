#include "core/TransferThread.h"

#include <cstring>

namespace par::rt {

TransferThread::TransferThread(size_t most, Hooks called)
    : hooks(std::move(called)), copies(most), thread([this] { work(); }) {
  awaitBegin();
}

/// What the thread takes from the heap at its start is taken before a step begins.
void TransferThread::awaitBegin() {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return begun; });
}

TransferThread::~TransferThread() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  given.notify_one();
  thread.join();
}

uint64_t TransferThread::start(void *destination, const void *source, size_t bytes) {
  uint64_t ticket;
  {
    std::unique_lock<std::mutex> lock(mutex);
    ended.wait(lock, [&] { return started - done < copies.size(); });
    ticket = ++started;
    copies[(ticket - 1) % copies.size()] = {destination, source, bytes};
  }
  given.notify_one();
  return ticket;
}

void TransferThread::wait(uint64_t ticket) {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return done >= ticket; });
}

void TransferThread::work() {
  if (hooks.begin)
    hooks.begin();
  std::unique_lock<std::mutex> lock(mutex);
  begun = true;
  ended.notify_all();
  while (true) {
    given.wait(lock, [&] { return stopping || started > done; });
    if (started == done)
      return;
    Copy copy = copies[done % copies.size()];
    lock.unlock();
    if (hooks.before)
      hooks.before();
    std::memcpy(copy.destination, copy.source, copy.bytes);
    lock.lock();
    ++done;
    ended.notify_all();
  }
}

} // namespace par::rt
