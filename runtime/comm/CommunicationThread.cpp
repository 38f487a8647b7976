#include "comm/CommunicationThread.h"

namespace par::comm {

CommunicationThread::CommunicationThread(Transport &transport, size_t most, Hooks called)
    : transport(transport), hooks(std::move(called)), tasks(most), thread([this] { work(); }) {
  transport.shareCores();
  awaitBegin();
}

/// What the thread takes from the heap at its start is taken before a step begins.
void CommunicationThread::awaitBegin() {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return begun; });
}

CommunicationThread::~CommunicationThread() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  given.notify_one();
  thread.join();
}

uint64_t CommunicationThread::start(Group &group, const Collective &collective, void *const *buffers,
                                    uint64_t *sent) {
  uint64_t ticket;
  {
    std::unique_lock<std::mutex> lock(mutex);
    ended.wait(lock, [&] { return started - done < tasks.size(); });
    ticket = ++started;
    tasks[(ticket - 1) % tasks.size()] = {&group, &collective, buffers, sent};
  }
  given.notify_one();
  return ticket;
}

io::Status CommunicationThread::wait(uint64_t ticket) {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return done >= ticket || !failure.ok(); });
  return done >= ticket ? io::Status() : failure;
}

void CommunicationThread::work() {
  if (hooks.begin)
    hooks.begin();
  std::unique_lock<std::mutex> lock(mutex);
  begun = true;
  ended.notify_all();
  while (true) {
    given.wait(lock, [&] { return stopping || (started > done && failure.ok()); });
    if (started == done || !failure.ok())
      return;
    Task task = tasks[done % tasks.size()];
    lock.unlock();
    if (hooks.before)
      hooks.before();
    io::Status status = transport.run(*task.group, *task.collective, task.buffers, task.sent);
    lock.lock();
    if (status.ok())
      ++done;
    else
      failure = status;
    ended.notify_all();
  }
}

} // namespace par::comm
