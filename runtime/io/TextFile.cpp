#include "par/io/TextFile.h"

#include "par/Limits.h"
#include "par/io/Descriptor.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace par::io {

using Clock = std::chrono::steady_clock;

/// A pipe that has no writer ends at once, as one does whose writers have closed it: the first bytes, or a
/// writer that is seen, tell the two apart.
static Status awaitMore(int descriptor, bool isOpen, bool &hasWriter, Clock::time_point since) {
  hasWriter |= isOpen;
  std::chrono::seconds patience(hasWriter ? limits::pipeSeconds : limits::writerSeconds);
  if (Clock::now() - since > patience)
    return Status::error(std::string(hasWriter ? "nothing came from the pipe" : "nobody writes to the pipe") +
                         " for " + std::to_string(patience.count()) + " s; give a file");
  pollfd ready{descriptor, POLLIN, 0};
  if (isOpen)
    poll(&ready, 1, 100);
  else
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return {};
}

static Status readAll(int descriptor, bool isPipe, size_t mostBytes, std::string &content) {
  bool hasWriter = false;
  Clock::time_point since = Clock::now();
  char buffer[1 << 16];
  while (content.size() <= mostBytes) {
    ssize_t got = ::read(descriptor, buffer, std::min(sizeof(buffer), mostBytes + 1 - content.size()));
    if (got > 0) {
      content.append(buffer, size_t(got));
      since = Clock::now();
    } else if (got < 0 && errno != EAGAIN && errno != EINTR) {
      return Status::error(std::strerror(errno));
    } else if (got == 0 && (!isPipe || hasWriter || !content.empty())) {
      return {};
    } else {
      PAR_TRY(awaitMore(descriptor, got < 0, hasWriter, since));
    }
  }
  return Status::error("it has more than " + std::to_string(mostBytes) + " bytes");
}

Status readText(const std::string &path, size_t mostBytes, std::string &content) {
  content.clear();
  Descriptor file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat info;
  if (file.number < 0 || fstat(file.number, &info) != 0)
    return Status::error(std::strerror(errno));
  if (S_ISDIR(info.st_mode))
    return Status::error(std::strerror(EISDIR));
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
    return Status::error("it is no regular file");
  return readAll(file.number, S_ISFIFO(info.st_mode), mostBytes, content);
}

} // namespace par::io
