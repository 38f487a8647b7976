#include "par/io/Files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace par::io {

namespace fs = std::filesystem;

// Open folders of the process.
static std::mutex mutex;
static std::set<std::string> &openFolders() {
  static auto *folders =
      new std::set<std::string>; // never destroyed: a failure may end the process at any time
  return *folders;
}

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
  std::lock_guard<std::mutex> lock(mutex);
  if (mkdir(name.c_str(), 0777) != 0)
    return Status::error(name + ": cannot be made: " + std::strerror(errno));
  temporary = name;
  openFolders().insert(temporary);
  return {};
}

Status OutputFolder::commit() {
  syncFolder(temporary);
  std::lock_guard<std::mutex> lock(mutex);
  if (std::rename(temporary.c_str(), target.c_str()) != 0)
    return Status::error(target + ": cannot be written: " + std::strerror(errno));
  openFolders().erase(temporary);
  temporary.clear();
  fs::path parent = fs::path(target).parent_path();
  syncFolder(parent.empty() ? "." : parent.string());
  return {};
}

void OutputFolder::discard() {
  std::lock_guard<std::mutex> lock(mutex);
  std::error_code error;
  if (temporary.empty())
    return;
  fs::remove_all(temporary, error);
  openFolders().erase(temporary);
  temporary.clear();
}

void removeTemporaryFolders() {
  std::lock_guard<std::mutex> lock(mutex);
  std::error_code error;
  for (const std::string &folder : openFolders())
    fs::remove_all(folder, error);
}

} // namespace par::io
