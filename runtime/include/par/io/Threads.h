/// Threads that may not start: a limit of processes or of memory is one line for the user, not the end.
#ifndef PAR_IO_THREADS_H
#define PAR_IO_THREADS_H

#include "par/io/Status.h"

#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace par::io {

/// Says what could not be started, why, and what helps.
struct ThreadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The only way in which par starts a thread. `what` it is to be, as "the thread of rank 3". Throws
/// ThreadError.
std::thread startThread(const std::string &what, std::function<void()> body);
/// The same without exceptions.
Status startThread(std::thread &thread, const std::string &what, std::function<void()> body);

/// `work` on a thread beside this one; where none can be started, here, when its result is asked for.
template <typename Work>
auto runBeside(Work work) -> std::future<decltype(work())> {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error &) {
    return std::async(std::launch::deferred, work);
  }
}

/// Threads that are waited for, whatever happens: none is left running, none ends the process.
class Threads {
public:
  Threads() = default;
  Threads(const Threads &) = delete;
  Threads &operator=(const Threads &) = delete;
  ~Threads() { join(); }
  Status start(const std::string &what, std::function<void()> body);
  void join();
  size_t size() const { return threads.size(); }

private:
  std::vector<std::thread> threads;
};

} // namespace par::io
#endif
