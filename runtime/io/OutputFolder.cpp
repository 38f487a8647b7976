#include "par/io/EndingSignals.h"
#include "par/io/Files.h"
#include "par/io/TemporaryNames.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace par::io {

namespace fs = std::filesystem;

static void syncFolder(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  (void)fsync(descriptor);
  ::close(descriptor);
}

Status OutputFolder::create(const std::string &path, const std::string &tag) {
  target = path;
  std::string name = temporaryName(path, tag);
  // No signal comes between the folder and what removes it.
  SignalsWait wait;
  if (mkdir(name.c_str(), 0777) != 0)
    return Status::error(name + ": cannot be made: " + std::strerror(errno));
  temporary = name;
  slot = registerTemporaryFolder(temporary);
  return {};
}

Status OutputFolder::takeAway(const std::string &path, const std::string &tag) {
  target = path;
  std::string name = temporaryName(path, tag);
  SignalsWait wait;
  if (std::rename(path.c_str(), name.c_str()) != 0)
    return Status::error(path + ": cannot be removed: " + std::strerror(errno));
  temporary = name;
  slot = registerTemporaryFolder(temporary);
  return {};
}

Status OutputFolder::commit() {
  syncFolder(temporary);
  if (std::rename(temporary.c_str(), target.c_str()) != 0)
    return Status::error(target + ": cannot be written: " + std::strerror(errno));
  releaseTemporary(slot);
  slot = -1;
  temporary.clear();
  fs::path parent = fs::path(target).parent_path();
  syncFolder(parent.empty() ? "." : parent.string());
  return {};
}

void OutputFolder::discard() {
  if (temporary.empty())
    return;
  if (slot >= 0) {
    removeTemporary(slot);
  } else { // too many at once to be known to signals
    std::error_code error;
    fs::remove_all(temporary, error);
  }
  slot = -1;
  temporary.clear();
}

} // namespace par::io
