#include "device/WorkQueue.h"

#include "par/io/Threads.h"

namespace par::device {

WorkQueue::WorkQueue(size_t most, QueueHooks called)
    : hooks(std::move(called)), ring(most),
      thread(io::startThread("the thread of a queue of transfers", [this] { run(); })) {
  awaitBegin();
}

/// What the thread takes from the heap at its start is taken before a step begins.
void WorkQueue::awaitBegin() {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return begun; });
}

WorkQueue::~WorkQueue() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  added.notify_one();
  thread.join();
}

/// After a failure there is room for ever: nothing of it runs.
uint64_t WorkQueue::enqueue(const Work &work) {
  uint64_t number;
  {
    std::unique_lock<std::mutex> lock(mutex);
    ended.wait(lock, [&] { return given - done < ring.size() || !failure.ok(); });
    number = ++given;
    ring[(number - 1) % ring.size()] = work;
  }
  added.notify_one();
  return number;
}

bool WorkQueue::happened(uint64_t event) {
  std::lock_guard<std::mutex> lock(mutex);
  return done >= event;
}

io::Status WorkQueue::wait(uint64_t event) {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return done >= event || !failure.ok(); });
  return done >= event ? io::Status() : failure;
}

void WorkQueue::fail(const io::Status &status) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (failure.ok())
      failure = status;
    ++given;
  }
  ended.notify_all();
}

void WorkQueue::run() {
  if (hooks.begin)
    hooks.begin();
  std::unique_lock<std::mutex> lock(mutex);
  begun = true;
  ended.notify_all();
  while (true) {
    added.wait(lock, [&] { return stopping || (given > done && failure.ok()); });
    if (given == done || !failure.ok())
      return;
    Work work = ring[done % ring.size()];
    lock.unlock();
    if (hooks.before)
      hooks.before();
    io::Status status = work();
    lock.lock();
    if (status.ok())
      ++done;
    else
      failure = status;
    ended.notify_all();
  }
}

} // namespace par::device
