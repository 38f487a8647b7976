#include "core/MetricsStream.h"

#include "core/Error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace par::rt {

static bool isStandardOutput(const struct stat &there) {
  struct stat output;
  return fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == there.st_dev && output.st_ino == there.st_ino;
}

bool MetricsStream::isStream(const std::string &path) {
  struct stat there;
  return stat(path.c_str(), &there) == 0 && !S_ISDIR(there.st_mode) &&
         (!S_ISREG(there.st_mode) || isStandardOutput(there));
}

MetricsStream::~MetricsStream() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// A reader that was started with the run may need a moment.
static int openForReader(const std::string &path) {
  constexpr int attempts = 100;
  int descriptor = -1;
  for (int attempt = 0; attempt < attempts && descriptor < 0; ++attempt) {
    if (attempt)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0 && errno != ENXIO)
      break;
  }
  return descriptor;
}

void MetricsStream::open(const std::string &wanted) {
  path = wanted;
  struct stat there;
  // Opened anew, a file that standard output goes to would be written from its beginning.
  if (stat(path.c_str(), &there) == 0 && isStandardOutput(there))
    descriptor = ::dup(STDOUT_FILENO);
  else
    descriptor = openForReader(path);
  if (descriptor < 0)
    throw Error(path + (errno == ENXIO ? std::string(": nobody reads it; start its reader before the run")
                                       : std::string(": cannot be written: ") + std::strerror(errno)));
}

/// False: the reader is behind, or gone. A pipe that is ready takes PIPE_BUF bytes without waiting.
bool MetricsStream::sendPending() {
  while (!pending.empty()) {
    pollfd ready{descriptor, POLLOUT, 0};
    int count = poll(&ready, 1, hasReader ? 1000 : 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0 || (ready.revents & (POLLERR | POLLHUP | POLLNVAL)))
      return false;
    ssize_t written = ::write(descriptor, pending.data(), std::min<size_t>(pending.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN &&
        errno != EPIPE) // a full disk is no reader's fault
      throw Error(path + ": cannot be written: " + std::strerror(errno));
    if (written < 0 && errno == EPIPE)
      return false;
    pending.erase(0, size_t(std::max<ssize_t>(written, 0)));
  }
  return true;
}

void MetricsStream::append(const std::string &line) {
  if (!sendPending()) {
    hasReader = false;
    ++leftOut;
    return;
  }
  pending = line;
  hasReader = sendPending();
  if (hasReader || pending.size() < line.size())
    return; // or the rest follows when it can
  pending.clear();
  ++leftOut;
}

std::string MetricsStream::note() const {
  if (leftOut == 0)
    return "";
  return "note: " + path + ": " + std::to_string(leftOut) +
         (leftOut == 1 ? " line was left out, as nobody read it\n"
                       : " lines were left out, as nobody read them\n");
}

} // namespace par::rt
