#include "par/io/Threads.h"

#include <new>
#include <system_error>

namespace par::io {

Status startThread(std::thread &thread, const std::string &what, std::function<void()> body) {
  std::string why;
  try {
    thread = std::thread(std::move(body));
    return {};
  } catch (const std::system_error &error) {
    why = error.code().message();
  } catch (const std::bad_alloc &) {
    why = "out of memory";
  }
  return Status::error(what + " could not be started: " + why +
                       "; allow more processes (ulimit -u, or the container's limit of them) or more memory "
                       "(ulimit -v), or use fewer ranks");
}

std::thread startThread(const std::string &what, std::function<void()> body) {
  std::thread thread;
  if (Status status = startThread(thread, what, std::move(body)); !status.ok())
    throw ThreadError(status.message());
  return thread;
}

Status Threads::start(const std::string &what, std::function<void()> body) {
  std::thread thread;
  threads.reserve(threads.size() + 1);
  PAR_TRY(startThread(thread, what, std::move(body)));
  threads.push_back(std::move(thread));
  return {};
}

void Threads::join() {
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
}

} // namespace par::io
