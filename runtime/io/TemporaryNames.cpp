#include "par/io/TemporaryNames.h"

#include "par/io/Files.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace par::io {

// Fixed storage, so that a signal handler can walk it.
namespace {
enum State { freeSlot, beingWritten, file, folder, emptyFolder };
struct TemporaryName {
  std::atomic<int> state{freeSlot};
  dev_t device;
  ino_t inode;
  char path[4096];
};
constexpr int most = 64;
TemporaryName names[most];
} // namespace

static int keep(const std::string &path, const struct stat &info, State kind) {
  if (path.size() >= sizeof(TemporaryName::path))
    return -1;
  for (int i = 0; i < most; ++i) {
    int expected = freeSlot;
    if (!names[i].state.compare_exchange_strong(expected, beingWritten))
      continue;
    std::memcpy(names[i].path, path.c_str(), path.size() + 1);
    names[i].device = info.st_dev, names[i].inode = info.st_ino;
    names[i].state = kind;
    return i;
  }
  return -1;
}

int registerTemporary(const std::string &path, int descriptor) {
  struct stat info;
  return fstat(descriptor, &info) == 0 ? keep(path, info, file) : -1;
}

int registerTemporaryFile(const std::string &path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? keep(path, info, file) : -1;
}

static int keepFolder(const std::string &path, State kind) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) ? keep(path, info, kind) : -1;
}

int registerTemporaryFolder(const std::string &path) { return keepFolder(path, folder); }
int registerTemporaryEmptyFolder(const std::string &path) { return keepFolder(path, emptyFolder); }

void releaseTemporary(int slot) {
  if (slot >= 0)
    names[slot].state = freeSlot;
}

//===----------------------------------------------------------------------===//
// Removing: callable from a signal handler, so by system calls alone (readdir allocates)
//===----------------------------------------------------------------------===//

/// Deeper than any folder that par writes.
constexpr int mostLevels = 4;

static void removeContents(int folder, int level) {
  alignas(dirent64) char buffer[4096];
  lseek(folder, 0, SEEK_SET);
  for (long size; (size = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0;)
    for (long at = 0; at < size;) {
      auto *entry = reinterpret_cast<dirent64 *>(buffer + at);
      at += entry->d_reclen;
      if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0 ||
          unlinkat(folder, entry->d_name, 0) == 0 || errno != EISDIR || level == mostLevels)
        continue;
      int inner = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner < 0)
        continue;
      removeContents(inner, level + 1);
      close(inner);
      unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
}

static void removeOwn(const TemporaryName &name) {
  struct stat info;
  if (lstat(name.path, &info) != 0 || info.st_dev != name.device || info.st_ino != name.inode)
    return;
  if (name.state == file)
    unlink(name.path);
  else if (name.state == emptyFolder)
    rmdir(name.path);
  if (name.state != folder)
    return;
  int opened = open(name.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  // Others (a linker, another rank) may add a file meanwhile; they fail once the folder is gone.
  for (int attempt = 0; opened >= 0 && attempt < 100; ++attempt) {
    removeContents(opened, 0);
    if (rmdir(name.path) == 0 || errno != ENOTEMPTY)
      break;
  }
  if (opened >= 0)
    close(opened);
}

void removeTemporary(int slot) {
  if (slot < 0)
    return;
  removeOwn(names[slot]);
  releaseTemporary(slot);
}

void removeTemporaries() {
  int error = errno;
  // Inner folders were made last.
  for (int i = most - 1; i >= 0; --i)
    if (names[i].state >= file)
      removeOwn(names[i]);
  errno = error;
}

} // namespace par::io
