/// Order on a device: queues of work, and how one waits for another.
#ifndef PAR_DEVICE_QUEUE_H
#define PAR_DEVICE_QUEUE_H

#include "par/io/Status.h"

#include <cstdint>
#include <new>
#include <type_traits>

namespace par::device {

/// A function object `io::Status ()` that is copied as it is, so that queues allocate nothing.
class Work {
public:
  Work() = default;
  template <typename Body>
  Work(const Body &body) {
    static_assert(sizeof(Body) <= sizeof(bytes) && alignof(Body) <= 8, "captures more than fits a queue");
    static_assert(std::is_trivially_copyable_v<Body>, "a queue copies work as bytes");
    new (bytes) Body(body);
    call = [](const void *made) { return (*static_cast<const Body *>(made))(); };
  }
  io::Status operator()() const { return call(bytes); }

private:
  io::Status (*call)(const void *) = nullptr;
  alignas(8) char bytes[64];
};

/// Work that runs one after the other, in the order in which it was enqueued. A piece of work is named by its
/// number, from 1 on, its event: it has happened when that piece and all before it have ended. After a
/// failure nothing runs any more, and all that had not ended have its status. One thread enqueues. (CUDA: a
/// stream, and the events recorded on it.)
class Queue {
public:
  virtual ~Queue() = default;

  /// Adds work behind all that is there and returns its event. All that it refers to lives until then.
  virtual uint64_t enqueue(const Work &work) = 0;
  /// The event of all that was enqueued so far; 0, which has happened, where nothing was.
  virtual uint64_t record() = 0;
  /// Whether an event has happened, without a failure.
  virtual bool happened(uint64_t event) = 0;
  /// The caller waits for an event.
  virtual io::Status wait(uint64_t event) = 0;

  /// As if a piece of work had failed here.
  virtual void fail(const io::Status &status) = 0;

  /// What is enqueued here from now on begins after an event of another queue. A failure of that one that is
  /// known by now is returned; a later one becomes this queue's.
  virtual io::Status await(Queue &other, uint64_t event) {
    if (!other.happened(event))
      enqueue([&other, event] { return other.wait(event); });
    return {};
  }
};

/// The thread that enqueues does the work itself: on a CPU, what a rank computes.
class InlineQueue : public Queue {
public:
  uint64_t enqueue(const Work &work) override {
    if (failure.ok())
      failure = work();
    if (failure.ok())
      ++done;
    return ++given;
  }
  uint64_t record() override { return given; }
  bool happened(uint64_t event) override { return event <= done; }
  io::Status wait(uint64_t event) override { return event <= done ? io::Status() : failure; }
  io::Status await(Queue &other, uint64_t event) override { return other.wait(event); }
  void fail(const io::Status &status) override {
    if (failure.ok())
      failure = status;
    ++given;
  }

private:
  uint64_t given = 0, done = 0;
  io::Status failure;
};

} // namespace par::device
#endif
